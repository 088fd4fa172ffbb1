//! Which algorithm a collective takes: one by name, or by the rules of a selector (SMPI's keys and names).

use super::decisions;

macro_rules! algorithms {
    ($($(#[$doc:meta])* $name:ident, $key:literal: $($variant:ident = $text:literal),* ;)*) => {
        $(
            $(#[$doc])*
            #[derive(Copy, Clone, PartialEq, Eq, Debug)]
            #[allow(missing_docs)]
            pub enum $name { $($variant),* }

            impl $name {
                /// All of them, with their names.
                pub const ALL: &'static [(&'static str, $name)] = &[$(($text, $name::$variant)),*];

                /// The one of this name.
                ///
                /// # Errors
                /// If there is none: a sentence that says which there are.
                pub fn named(name: &str) -> Result<Self, String> {
                    Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, found)| *found).ok_or_else(|| {
                        let known: Vec<_> = Self::ALL.iter().map(|(known, _)| *known).collect();
                        format!("there is no algorithm {name:?} for {}; choose one of {}", $key, known.join(", "))
                    })
                }
            }
        )*
    };
}

algorithms! {
    /// Of `MPI_Barrier`.
    Barrier, "barrier": Default = "default", Mpich = "mpich", Ompi = "ompi", BasicLinear = "ompi_basic_linear",
        TwoProcs = "ompi_two_procs", Tree = "ompi_tree", Bruck = "ompi_bruck",
        RecursiveDoubling = "ompi_recursivedoubling", DoubleRing = "ompi_doublering";
    /// Of `MPI_Bcast`.
    Bcast, "bcast": Default = "default", Mpich = "mpich", Ompi = "ompi", BinomialTree = "binomial_tree", Ntsb = "NTSB",
        Ntsl = "NTSL", ScatterLrAllgather = "scatter_LR_allgather", ScatterRdbAllgather = "scatter_rdb_allgather",
        SmpBinomial = "SMP_binomial", SmpLinear = "SMP_linear", SplitBintree = "ompi_split_bintree",
        Pipeline = "ompi_pipeline", Knomial = "mvapich2_knomial_intra_node";
    /// Of `MPI_Reduce`.
    Reduce, "reduce": Default = "default", Mpich = "mpich", Ompi = "ompi", Binomial = "binomial",
        ScatterGather = "scatter_gather", Chain = "ompi_chain", Pipeline = "ompi_pipeline",
        BasicLinear = "ompi_basic_linear", InOrderBinary = "ompi_in_order_binary", Binary = "ompi_binary",
        OmpiBinomial = "ompi_binomial", TwoLevel = "mvapich2_two_level", Knomial = "mvapich2_knomial";
    /// Of `MPI_Allreduce`.
    Allreduce, "allreduce": Default = "default", Mpich = "mpich", Ompi = "ompi", Lr = "lr", RabRdb = "rab_rdb",
        Rdb = "rdb", Redbcast = "redbcast", RingSegmented = "ompi_ring_segmented", TwoLevel = "mvapich2_two_level";
    /// Of `MPI_Gather`.
    Gather, "gather": Default = "default", Mpich = "mpich", Ompi = "ompi", BasicLinear = "ompi_basic_linear",
        Binomial = "ompi_binomial", LinearSync = "ompi_linear_sync";
    /// Of `MPI_Scatter`.
    Scatter, "scatter": Default = "default", Mpich = "mpich", Ompi = "ompi", BasicLinear = "ompi_basic_linear",
        LinearNb = "ompi_linear_nb", Binomial = "ompi_binomial";
    /// Of `MPI_Allgather`.
    Allgather, "allgather": Default = "default", Mpich = "mpich", Ompi = "ompi", Bruck = "bruck",
        NtslrNb = "NTSLR_NB", Pair = "pair", Rdb = "rdb", Ring = "ring", NeighborExchange = "ompi_neighborexchange";
    /// Of `MPI_Allgatherv`.
    Allgatherv, "allgatherv": Default = "default", Mpich = "mpich", Ompi = "ompi", Gb = "GB", Pair = "pair",
        Ring = "ring", NeighborExchange = "ompi_neighborexchange", Bruck = "ompi_bruck", Rdb = "mpich_rdb",
        MpichRing = "mpich_ring";
    /// Of `MPI_Alltoall`.
    Alltoall, "alltoall": Default = "default", Mpich = "mpich", Ompi = "ompi", BasicLinear = "basic_linear",
        Bruck = "bruck", Pair = "pair", Ring = "ring", ScatterDest = "mvapich2_scatter_dest";
    /// Of `MPI_Alltoallv`.
    Alltoallv, "alltoallv": Default = "default", Mpich = "mpich", Ompi = "ompi", Bruck = "bruck", Pair = "pair",
        BasicLinear = "ompi_basic_linear";
    /// Of `MPI_Reduce_scatter`.
    ReduceScatter, "reduce_scatter": Default = "default", Mpich = "mpich", Ompi = "ompi",
        RecursiveHalving = "ompi_basic_recursivehalving", Ring = "ompi_ring", Butterfly = "ompi_butterfly",
        Pair = "mpich_pair", Rdb = "mpich_rdb", Noncomm = "mpich_noncomm";
}

macro_rules! selection {
    ($($field:ident: $kind:ident, $key:literal;)*) => {
        /// Which algorithm each collective takes.
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[allow(missing_docs)]
        pub struct Selection { $(pub $field: $kind),* }

        /// What the program set, apart from the selector.
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        pub struct Keys {
            selector: Option<String>,
            $($field: Option<$kind>),*
        }

        impl Keys {
            /// Sets a key, `smpi/coll-selector` or `smpi/bcast` and the like; `false` if it is another key.
            ///
            /// # Errors
            /// If there is no such algorithm: a sentence that says which there are.
            pub fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
                match key {
                    "smpi/coll-selector" => {
                        Selection::of(value)?;
                        self.selector = Some(value.to_owned());
                    }
                    $($key => self.$field = Some($kind::named(value)?),)*
                    _ => return Ok(false),
                }
                Ok(true)
            }

            /// What comes of them.
            pub fn selection(&self) -> Selection {
                let mut selection = Selection::default();
                if let Some(Ok(chosen)) = self.selector.as_deref().map(Selection::of) {
                    selection = chosen;
                }
                $(if let Some(chosen) = self.$field { selection.$field = chosen; })*
                selection
            }
        }

        impl Selection {
            /// All by the rules of one selector.
            ///
            /// # Errors
            /// If there is none of this name: a sentence that says which there are.
            pub fn of(selector: &str) -> Result<Self, String> {
                match selector {
                    "default" => Ok(Self { $($field: $kind::Default),* }),
                    "mpich" => Ok(Self { $($field: $kind::Mpich),* }),
                    "ompi" => Ok(Self { $($field: $kind::Ompi),* }),
                    other => Err(format!(
                        "there is no selector {other:?} of collectives; choose one of default, mpich, ompi"
                    )),
                }
            }
        }
    };
}

selection! {
    barrier: Barrier, "smpi/barrier";
    bcast: Bcast, "smpi/bcast";
    reduce: Reduce, "smpi/reduce";
    allreduce: Allreduce, "smpi/allreduce";
    gather: Gather, "smpi/gather";
    scatter: Scatter, "smpi/scatter";
    allgather: Allgather, "smpi/allgather";
    allgatherv: Allgatherv, "smpi/allgatherv";
    alltoall: Alltoall, "smpi/alltoall";
    alltoallv: Alltoallv, "smpi/alltoallv";
    reduce_scatter: ReduceScatter, "smpi/reduce_scatter";
}

impl Default for Selection {
    /// MPICH's rules: what people run.
    fn default() -> Self {
        Self::of("mpich").expect("it is one of them")
    }
}

impl Selection {
    /// Reads settings, `smpi/bcast` and its value and so on. Keys that are not of collectives are passed over.
    ///
    /// # Errors
    /// If there is no such algorithm: a sentence that says which there are.
    pub fn parse<'a>(settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut keys = Keys::default();
        for (key, value) in settings {
            keys.set(key, value)?;
        }
        Ok(keys.selection())
    }
}

/// The algorithm that Open MPI's decisions name for so many ranks and bytes.
fn decided<T: Copy>(table: &decisions::Table, algorithms: &[T], ranks: usize, bytes: usize) -> T {
    algorithms[decisions::decide(table, ranks, bytes) - 1]
}

impl Barrier {
    /// By Open MPI's rules.
    pub fn ompi(ranks: usize) -> Self {
        use Barrier::*;
        let algorithms = [BasicLinear, BasicLinear, RecursiveDoubling, Bruck, TwoProcs, Tree];
        decided(&decisions::BARRIER, &algorithms, ranks, 0)
    }
}

impl Bcast {
    /// By Open MPI's rules.
    pub fn ompi(ranks: usize, bytes: usize) -> Self {
        use Bcast::*;
        let algorithms = [
            Ntsl,
            Pipeline,
            Pipeline,
            SplitBintree,
            Ntsb,
            BinomialTree,
            Knomial,
            ScatterRdbAllgather,
            ScatterLrAllgather,
        ];
        decided(&decisions::BCAST, &algorithms, ranks, bytes)
    }

    /// By MPICH's rules for ranks of which nothing is known.
    pub fn by_size(ranks: usize, bytes: usize) -> Self {
        if bytes < 12288 || ranks <= 8 {
            Bcast::BinomialTree
        } else if bytes < 524_288 && ranks.is_multiple_of(2) {
            Bcast::ScatterRdbAllgather
        } else {
            Bcast::ScatterLrAllgather
        }
    }
}

impl Reduce {
    /// By Open MPI's rules.
    pub fn ompi(ranks: usize, bytes: usize, commutative: bool) -> Self {
        use Reduce::*;
        let algorithms = [BasicLinear, Chain, Pipeline, Binary, OmpiBinomial, InOrderBinary, BasicLinear];
        let table: &decisions::Table =
            if commutative { &decisions::REDUCE } else { &decisions::REDUCE_ORDERED };
        decided(table, &algorithms, ranks, bytes)
    }

    /// By MPICH's rules for ranks of which nothing is known.
    pub fn by_size(ranks: usize, count: usize, bytes: usize, commutative: bool) -> Self {
        if count < super::trees::power_below(ranks) || bytes < 2048 || !commutative {
            Reduce::Binomial
        } else {
            Reduce::ScatterGather
        }
    }
}

impl Allreduce {
    /// By Open MPI's rules.
    pub fn ompi(ranks: usize, bytes: usize, commutative: bool) -> Self {
        use Allreduce::*;
        let algorithms = [Redbcast, Redbcast, Rdb, Lr, RingSegmented, RabRdb];
        let table: &decisions::Table =
            if commutative { &decisions::ALLREDUCE } else { &decisions::ALLREDUCE_ORDERED };
        decided(table, &algorithms, ranks, bytes)
    }

    /// By MPICH's rules for ranks of which nothing is known.
    pub fn by_size(ranks: usize, count: usize, bytes: usize, commutative: bool) -> Self {
        if bytes > 2048 && count >= super::trees::power_below(ranks) && commutative {
            Allreduce::RabRdb
        } else {
            Allreduce::Rdb
        }
    }
}

impl Gather {
    /// By Open MPI's rules.
    pub fn ompi(ranks: usize, bytes: usize) -> Self {
        use Gather::*;
        decided(&decisions::GATHER, &[BasicLinear, Binomial, LinearSync], ranks, bytes)
    }
}

impl Scatter {
    /// By Open MPI's rules.
    pub fn ompi(ranks: usize, bytes: usize) -> Self {
        use Scatter::*;
        decided(&decisions::SCATTER, &[BasicLinear, Binomial, LinearNb], ranks, bytes)
    }
}

impl Allgather {
    /// By Open MPI's rules.
    pub fn ompi(ranks: usize, bytes: usize) -> Self {
        use Allgather::*;
        let algorithms = [NtslrNb, Bruck, Rdb, Ring, NeighborExchange, Pair];
        decided(&decisions::ALLGATHER, &algorithms, ranks, bytes)
    }

    /// By MPICH's rules.
    pub fn mpich(ranks: usize, bytes: usize) -> Self {
        let all = ranks * bytes;
        if ranks.is_power_of_two() && all < 524_288 {
            Allgather::Rdb
        } else if all <= 81920 {
            Allgather::Bruck
        } else {
            Allgather::Ring
        }
    }
}

impl Allgatherv {
    /// By Open MPI's rules.
    pub fn ompi(ranks: usize, bytes: usize) -> Self {
        use Allgatherv::*;
        let algorithms = [Gb, Bruck, MpichRing, NeighborExchange, Pair];
        decided(&decisions::ALLGATHERV, &algorithms, ranks, bytes)
    }

    /// By MPICH's rules; the limits are of elements.
    pub fn mpich(ranks: usize, elements: usize) -> Self {
        if ranks.is_power_of_two() && elements < 524_288 {
            Allgatherv::Rdb
        } else if elements <= 81920 {
            Allgatherv::Bruck
        } else {
            Allgatherv::MpichRing
        }
    }
}

impl Alltoall {
    /// By Open MPI's rules. Pairs need a power of two; a ring does for the others.
    pub fn ompi(ranks: usize, bytes: usize) -> Self {
        use Alltoall::*;
        let algorithms = [BasicLinear, Pair, Bruck, BasicLinear, BasicLinear];
        decided(&decisions::ALLTOALL, &algorithms, ranks, bytes)
    }

    /// By MPICH's rules.
    pub fn mpich(ranks: usize, bytes: usize) -> Self {
        if bytes < 256 && ranks >= 8 {
            Alltoall::Bruck
        } else if bytes < 32768 {
            Alltoall::ScatterDest
        } else {
            Alltoall::Ring
        }
    }
}

impl Alltoallv {
    /// By Open MPI's rules.
    pub fn ompi(ranks: usize) -> Self {
        use Alltoallv::*;
        decided(&decisions::ALLTOALLV, &[BasicLinear, Pair], ranks, 0)
    }
}

impl ReduceScatter {
    /// By Open MPI's rules.
    pub fn ompi(ranks: usize, bytes: usize, commutative: bool) -> Self {
        use ReduceScatter::*;
        if !commutative {
            return Default;
        }
        decided(&decisions::REDUCE_SCATTER, &[Default, RecursiveHalving, Ring, Butterfly], ranks, bytes)
    }

    /// By MPICH's rules; the limit is of elements.
    pub fn mpich(ranks: usize, elements: usize, equal: bool, commutative: bool) -> Self {
        match commutative {
            true if elements > 524_288 => ReduceScatter::Pair,
            true => ReduceScatter::Rdb,
            false if ranks.is_power_of_two() && equal => ReduceScatter::Noncomm,
            false => ReduceScatter::Rdb,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_before_the_selector() {
        let selection = Selection::parse([
            ("smpi/bcast", "NTSL"),
            ("smpi/coll-selector", "ompi"),
            ("network/model", "SMPI"),
        ]);
        let expected = Selection { bcast: Bcast::Ntsl, ..Selection::of("ompi").expect("it is one") };
        assert_eq!(selection, Ok(expected));
        assert_eq!(Selection::parse([]), Selection::of("mpich"));
        let wrong = Selection::parse([("smpi/gather", "binomial")]);
        assert_eq!(
            wrong.unwrap_err(),
            "there is no algorithm \"binomial\" for gather; choose one of default, mpich, ompi, ompi_basic_linear, \
             ompi_binomial, ompi_linear_sync"
        );
        let wrong = Selection::parse([("smpi/coll-selector", "impi")]);
        assert!(wrong.unwrap_err().contains("choose one of default, mpich, ompi"));
    }

    #[test]
    fn tables_are_read_by_ranks_and_bytes() {
        assert_eq!(Bcast::ompi(2, 31), Bcast::Pipeline);
        assert_eq!(Bcast::ompi(2, 32), Bcast::Ntsb);
        assert_eq!(Bcast::ompi(5, 1 << 20), Bcast::Pipeline);
        assert_eq!(Barrier::ompi(3), Barrier::RecursiveDoubling);
        assert_eq!(Barrier::ompi(5000), Barrier::Bruck);
        assert_eq!(Allgather::ompi(2, 5), Allgather::Pair);
        assert_eq!(Allgather::ompi(3, 1 << 24), Allgather::Rdb);
        assert_eq!(Alltoall::ompi(2, 1), Alltoall::Pair);
    }
}
