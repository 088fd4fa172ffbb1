//! The table of MPI's procedures and constants, read.

/// A procedure of MPI.
pub struct Procedure {
    /// `MPI_Send`.
    pub name: String,
    /// What it returns in C.
    pub returns: String,
    /// `c`, `f` (mpif.h and `use mpi`), `8` (mpi_f08).
    pub languages: String,
    /// Whether it has a variant for large counts.
    pub large: bool,
    /// Its parameters, those of Fortran alone too.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a procedure.
pub struct Parameter {
    pub name: String,
    pub kind: String,
    pub direction: String,
    /// In C; none if it is not there.
    pub small: Option<String>,
    /// In the variant for large counts.
    pub large: Option<String>,
    /// In Fortran.
    pub fortran: Option<String>,
    /// Its dimensions in Fortran.
    pub dimensions: Option<String>,
}

/// A function that programs supply.
pub struct Callback {
    pub name: String,
    pub returns: String,
    pub small: String,
    pub large: Option<String>,
}

/// A constant: its type in C, and its value, or that of which it is another name.
pub struct Constant {
    pub name: String,
    pub kind: String,
    pub value: String,
}

impl Procedure {
    /// `send` of `MPI_Send`: the function that does it.
    pub fn function(&self) -> String {
        self.name["MPI_".len()..].to_lowercase()
    }
}

fn present(word: &str) -> Option<String> {
    (word != "-").then(|| word.to_owned())
}

/// Reads the procedures and callbacks.
pub fn procedures(text: &str) -> (Vec<Procedure>, Vec<Callback>) {
    let (mut procedures, mut callbacks): (Vec<Procedure>, Vec<Callback>) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split('\t').collect();
        match words[..] {
            ["P", name, returns, languages, large] => procedures.push(Procedure {
                name: name.to_owned(),
                returns: returns.to_owned(),
                languages: languages.to_owned(),
                large: large == "large",
                parameters: Vec::new(),
            }),
            ["A", name, kind, direction, small, large, fortran, dimensions] => {
                procedures.last_mut().expect("a procedure comes first").parameters.push(Parameter {
                    name: name.to_owned(),
                    kind: kind.to_owned(),
                    direction: direction.to_owned(),
                    small: present(small),
                    large: present(large),
                    fortran: present(fortran),
                    dimensions: present(dimensions),
                });
            }
            ["C", name, returns, small, large] => callbacks.push(Callback {
                name: name.to_owned(),
                returns: returns.to_owned(),
                small: small.to_owned(),
                large: present(large),
            }),
            _ => panic!("not a line of the table of procedures: {line:?}"),
        }
    }
    (procedures, callbacks)
}

/// Reads the constants.
pub fn constants(text: &str) -> Vec<Constant> {
    let constant = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        [name, kind, value] => Constant { name: name.into(), kind: kind.into(), value: value.into() },
        _ => panic!("not a line of the table of constants: {line:?}"),
    };
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(constant).collect()
}
