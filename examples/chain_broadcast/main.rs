//! A file goes down a chain of peers: first whole, from peer to peer; then in pieces, each of which is passed on while
//! the next one arrives.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args)]
struct Options {
    /// How many peers are in the chain, with the one that has the file
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..))]
    peers: u32,
    /// How long the file is
    #[arg(long, default_value_t = 1e9)]
    bytes: f64,
    /// Into how many pieces it is cut the second time
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pieces: u32,
    /// How many pieces a peer sends at once
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
}

/// A piece of the file: only its length matters here.
struct Piece;

/// A peer's place in the chain.
struct Peer {
    ctx: Ctx,
    place: u32,
    peers: u32,
    window: usize,
}

impl Peer {
    fn mailbox(&self, place: u32) -> Mailbox<Piece> {
        self.ctx.mailbox(&format!("peer {place}"))
    }

    /// Sends the pieces, at most a window of them at once.
    async fn give(&self, bytes: f64, pieces: u32) -> simurgh::Result {
        let next = self.mailbox(self.place + 1);
        let mut sends = ActivitySet::new();
        for _ in 0..pieces {
            if sends.len() >= self.window {
                sends.wait_any().await?;
            }
            sends.push(next.send(Piece, bytes / f64::from(pieces)).start().await);
        }
        sends.wait_all().await?;
        Ok(())
    }

    /// Receives the pieces, always with one receive ahead, and passes each on.
    async fn pass(&self, bytes: f64, pieces: u32) -> simurgh::Result {
        let mine = self.mailbox(self.place);
        let next = (self.place + 1 < self.peers).then(|| self.mailbox(self.place + 1));
        let mut sends = ActivitySet::new();
        let mut incoming = mine.recv().start().await;
        for left in (0..pieces).rev() {
            let piece = incoming.wait().await?;
            if left > 0 {
                incoming = mine.recv().start().await;
            }
            if let Some(next) = &next {
                if sends.len() >= self.window {
                    sends.wait_any().await?;
                }
                sends.push(next.send(piece, bytes / f64::from(pieces)).start().await);
            }
        }
        sends.wait_all().await?;
        Ok(())
    }

    /// The whole broadcast: the first peer has the file, and the last one tells it when it has it too.
    async fn broadcast(&self, bytes: f64, pieces: u32) -> simurgh::Result {
        let begin = self.ctx.now();
        let arrived = self.ctx.mailbox::<()>("arrived");
        if self.place == 0 {
            self.give(bytes, pieces).await?;
            arrived.recv().await?;
            let took = self.ctx.now() - begin;
            self.ctx
                .say(format!("in {pieces:>2} piece(s): all {} peers had it after {took:.6} s", self.peers));
            return Ok(());
        }
        self.pass(bytes, pieces).await?;
        if self.place + 1 == self.peers {
            arrived.send((), 0.0).await?;
        }
        Ok(())
    }
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let Options { peers, bytes, pieces, window } = *options;
    for place in 0..peers {
        let host = program.any_host()?;
        program.spawn(format!("peer-{place}"), host, move |ctx| async move {
            let peer = Peer { ctx, place, peers, window: window as usize };
            peer.broadcast(bytes, 1).await?;
            peer.broadcast(bytes, pieces).await
        })?;
    }
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}
