//! The command line that programs share: `NAME deploy FILE --node N`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use serde::Serialize;
use serde::de::DeserializeOwned;
use simurgh_files::shown;
use simurgh_protocol::Actor;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;

use crate::counters::Counters;
use crate::deployment::Deployment;
use crate::error::Error;
use crate::node::Node;

/// What follows `deploy` on the command line; a program with other commands has it as one of them.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The deployment file: who takes part, where, and with which key
    pub file: PathBuf,
    /// Which node to run here: its name or its number
    #[arg(long)]
    pub node: String,
    /// Stops after so many seconds, as well as on Ctrl-C and SIGTERM
    #[arg(long)]
    pub seconds: Option<u64>,
    /// Makes a key for the node, where the deployment file asks for one, and prints what the others have to know
    #[arg(long)]
    pub make_key: bool,
    /// Loses this part of its messages on purpose, from 0 to 1, whatever the deployment file says
    #[arg(long, value_name = "PART", value_parser = crate::watch::part)]
    pub loss: Option<f64>,
}

impl Arguments {
    /// Reads the deployment, runs the node that `make` gives for it, and tells in the end what was counted; exit code 2 if it cannot run.
    pub fn run<A: Actor>(&self, make: impl FnOnce(&str, &Deployment) -> Result<Node<A>, Error>) -> ExitCode
    where
        A::Msg: Serialize + DeserializeOwned,
    {
        if self.make_key {
            return match Deployment::make_key(&self.file, &self.node) {
                Ok(public) => {
                    println!("public_key = \"{public}\"");
                    ExitCode::SUCCESS
                }
                Err(error) => {
                    eprintln!("error: {}", shown(&error.to_string()));
                    ExitCode::from(2)
                }
            };
        }
        match self.counted(make) {
            Ok(counters) => {
                eprintln!("stopped: {counters}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("error: {}", shown(&error.to_string()));
                ExitCode::from(2)
            }
        }
    }

    fn counted<A: Actor>(
        &self,
        make: impl FnOnce(&str, &Deployment) -> Result<Node<A>, Error>,
    ) -> Result<Counters, Error>
    where
        A::Msg: Serialize + DeserializeOwned,
    {
        let mut node = make(&self.node, &Deployment::read(&self.file)?)?;
        if let Some(loss) = self.loss {
            node = node.losing(loss);
        }
        match self.seconds {
            Some(seconds) => {
                node.until(async move { tokio::time::sleep(Duration::from_secs(seconds)).await }).run()
            }
            None => node.run(),
        }
    }
}

#[derive(Parser)]
enum OnlyDeploy {
    /// Runs one node over real sockets
    Deploy(Arguments),
}

/// The whole of a program that only deploys: `NAME deploy FILE --node N`.
///
/// ```no_run
/// # use simurgh_deploy::{Error, Node};
/// # fn start<A: simurgh_protocol::Actor<Msg = ()>>(actor: A) -> std::process::ExitCode {
/// simurgh_deploy::main(|node, deployment| Node::new(actor, node, deployment))
/// # }
/// ```
pub fn main<A: Actor>(make: impl FnOnce(&str, &Deployment) -> Result<Node<A>, Error>) -> ExitCode
where
    A::Msg: Serialize + DeserializeOwned,
{
    let OnlyDeploy::Deploy(arguments) = OnlyDeploy::parse();
    arguments.run(make)
}

impl<A: Actor> Node<A>
where
    A::Msg: Serialize + DeserializeOwned,
{
    /// Each line that is typed becomes a message to the actor, as if it had sent it to itself. The end of what is typed does not stop the node.
    #[must_use]
    pub fn lines(self, mut message: impl FnMut(String) -> A::Msg + Send + 'static) -> Self {
        let (sender, inputs) = mpsc::channel(16);
        self.reading(Box::pin(async move {
            let mut lines = BufReader::new(tokio::io::stdin()).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if sender.send(message(line)).await.is_err() {
                    return;
                }
            }
        }))
        .inputs(inputs)
    }
}
