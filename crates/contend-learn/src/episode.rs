//! Several networks of one experiment, stepped together.

use crate::agent::Agent;
use crate::post::Post;
use contend_core::{Refusal, Span, Time};
use contend_lab::experiment::point::Resolved;
use contend_sim::net::Net;
use rayon::prelude::*;
use std::sync::Arc;

/// Networks of one experiment. Each has its own seed and time.
pub struct Episodes {
    agent: &'static Agent,
    resolved: Resolved,
    step: Span,
    all: Vec<Option<Episode>>,
    pool: rayon::ThreadPool,
    agents: usize,
}

/// One network under way.
struct Episode {
    net: Net,
    posts: Vec<Arc<Post>>,
    /// Of each flow: bytes delivered, packets arrived and the sum of their delays, at the last step.
    before: Vec<(u64, u64, Span)>,
}

/// What a step of all networks gives, network by network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stepped {
    /// What each agent sees: networks x agents x [`Agent::sees`].
    pub seen: Vec<f64>,
    /// Goodput of each flow in bit/s: networks x flows.
    pub goodput: Vec<f64>,
    /// Mean one-way delay of each flow's packets in seconds, 0 if none has arrived: networks x flows.
    pub delay: Vec<f64>,
    /// Simulated time of each network in seconds.
    pub time: Vec<f64>,
}

impl Episodes {
    /// `count` networks of `resolved`, which agents of the kind `agent` are in; a step lasts `step`. `jobs`: networks
    /// stepped at the same time, 0 for one on each core.
    ///
    /// # Errors
    /// When no network can be built, or there is no agent in it.
    pub fn new(
        agent: &'static Agent,
        resolved: Resolved,
        step: Span,
        count: usize,
        jobs: usize,
    ) -> Result<Episodes, Refusal> {
        if step.is_zero() {
            return Err(Refusal::new("a step has no length", "give a step like 100ms"));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
        let pool = pool.map_err(|e| Refusal::from(format!("no worker threads: {e}")))?;
        let all = (0..count).map(|_| None).collect();
        let mut episodes = Episodes { agent, resolved, step, all, pool, agents: 0 };
        episodes.agents = episodes.begun(1)?.posts.len();
        if episodes.agents == 0 {
            let what = format!("no {} = \"{}\" is in the network", agent.key, agent.algorithm);
            return Err(Refusal::new(what, "name the place of the agent: at=\"flow.up\", \"ap\" or \"wifi\""));
        }
        Ok(episodes)
    }

    /// Number of agents in each network.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// Names of the flows.
    pub fn flows(&self) -> Vec<&str> {
        self.resolved.scenario.flows.iter().map(|f| f.name.as_str()).collect()
    }

    fn begun(&self, seed: u64) -> Result<Episode, Refusal> {
        let scenario = self.resolved.scenario.with_seed(seed);
        let (net, posts) = Post::of(|| Net::new(&scenario));
        let net = net?;
        let before = vec![(0, 0, Span::ZERO); net.flows()];
        Ok(Episode { net, posts, before })
    }

    /// Begins network `i` anew with `seed`, and lets `warmup` pass. Returns what its agents see, as of one step.
    ///
    /// # Errors
    /// When the network cannot be built or run.
    pub fn reset(&mut self, i: usize, seed: u64, warmup: Span) -> Result<Stepped, Refusal> {
        let mut episode = self.begun(seed)?;
        let mut stepped = Stepped::default();
        if warmup.is_zero() {
            episode.read(self.agent, self.step, &mut stepped);
        } else {
            episode.advance(warmup)?;
            episode.read(self.agent, warmup, &mut stepped);
        }
        let Some(place) = self.all.get_mut(i) else {
            return Err(Refusal::from(format!("there is no network {i}")));
        };
        *place = Some(episode);
        Ok(stepped)
    }

    /// Steps all networks. `actions` has one for each agent of each network.
    ///
    /// # Errors
    /// When there are too few actions, a network was not begun, or cannot go on.
    pub fn step(&mut self, actions: &[f64]) -> Result<Stepped, Refusal> {
        let (agents, agent, step) = (self.agents, self.agent, self.step);
        if actions.len() != agents * self.all.len() || actions.iter().any(|a| !a.is_finite()) {
            let what = format!("{} actions are given", actions.len());
            return Err(Refusal::new(what, format!("give {} finite numbers", agents * self.all.len())));
        }
        let one = |(episode, actions): (&mut Option<Episode>, &[f64])| -> Result<Stepped, Refusal> {
            let Some(episode) = episode else { return Err(Refusal::new("a network was not begun", "reset it first")) };
            episode.posts.iter().zip(actions).for_each(|(post, action)| post.act(*action));
            episode.advance(step)?;
            let mut stepped = Stepped::default();
            episode.read(agent, step, &mut stepped);
            Ok(stepped)
        };
        let each = |all: &mut [Option<Episode>]| -> Vec<Result<Stepped, Refusal>> {
            all.par_iter_mut().zip(actions.par_chunks(agents)).map(one).collect()
        };
        let all = &mut self.all;
        // A single network needs no other thread.
        let parts = match &mut all[..] {
            [only] => vec![one((only, actions))],
            all => self.pool.install(|| each(all)),
        };
        let mut stepped = Stepped::default();
        for part in parts {
            let part = part?;
            stepped.seen.extend(part.seen);
            stepped.goodput.extend(part.goodput);
            stepped.delay.extend(part.delay);
            stepped.time.extend(part.time);
        }
        Ok(stepped)
    }

    /// The digest of network `i` up to now; `None` if it was not begun.
    pub fn digest(&self, i: usize) -> Option<u64> {
        Some(self.all.get(i)?.as_ref()?.net.world.trace.digest())
    }
}

impl Episode {
    fn advance(&mut self, by: Span) -> Result<(), Refusal> {
        let end = self.net.world.now() + by;
        self.net.run_until(end);
        match self.net.bss().and_then(|b| b.fault()) {
            Some(fault) => Err(fault.refusal()),
            None => Ok(()),
        }
    }

    /// Appends what has happened since the last reading, in a time of `length`.
    fn read(&mut self, agent: &Agent, length: Span, into: &mut Stepped) {
        let seconds = length.as_secs_f64();
        for post in &self.posts {
            into.seen.extend((agent.read)(&post.take(), seconds));
        }
        for (flow, before) in self.before.iter_mut().enumerate() {
            let bytes = self.net.received(flow).delivered_bytes;
            let (packets, sum) = self.net.delay(flow).map_or((0, Span::ZERO), |d| (d.len(), d.sum()));
            into.goodput.push((bytes - before.0) as f64 * 8.0 / seconds);
            let arrived = packets - before.1;
            let waited = sum.saturating_sub(before.2).as_secs_f64();
            into.delay.push(if arrived == 0 { 0.0 } else { waited / arrived as f64 });
            *before = (bytes, packets, sum);
        }
        into.time.push((self.net.world.now() - Time::ZERO).as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{AGENTS, install};
    use contend_lab::opening;
    use contend_lab::reading::examples::Example;
    use contend_lab::reading::file::Overlay;

    /// Networks of the hotspot with an agent at `key`.
    fn episodes(agent: &str, key: &str, value: &str, count: usize) -> Episodes {
        install().unwrap();
        let agent = AGENTS.iter().find(|a| a.name == agent).unwrap();
        let sets = [("warmup", "0s"), ("duration", "1000s"), (key, value)].map(|(k, v)| (k.into(), v.into()));
        let e = opening::experiment("hotspot", Example::named("hotspot").unwrap().text, &sets).unwrap();
        let resolved = e.scenario(&e.points[0], &Overlay::default()).unwrap();
        Episodes::new(agent, resolved, Span::from_millis(100), count, 2).unwrap()
    }

    #[test]
    fn each_agent_of_the_network_has_one_post() {
        let at = |agent, key, value| episodes(agent, key, value, 1).agents();
        assert_eq!(at("window", "flow.down.tcp", r#"{ cc = "agent_window" }"#), 10);
        assert_eq!(at("queue", "ap.queue", "agent_queue"), 1);
        assert_eq!(at("access", "wifi.access", "agent_access"), 13);
    }

    #[test]
    fn equal_seeds_and_actions_give_equal_episodes_alone_and_together() {
        let mut two = episodes("queue", "ap.queue", "agent_queue", 2);
        let mut one = episodes("queue", "ap.queue", "agent_queue", 1);
        for (i, seed) in [(0, 7), (1, 8)] {
            two.reset(i, seed, Span::ZERO).unwrap();
        }
        one.reset(0, 8, Span::ZERO).unwrap();
        for limit in [5.0, 50.0, 500.0, 20.0] {
            let (both, alone) = (two.step(&[9.0, limit]).unwrap(), one.step(&[limit]).unwrap());
            assert_eq!(both.seen[6..], alone.seen[..]);
            assert_eq!(both.goodput[12..], alone.goodput[..]);
        }
        assert_eq!((two.digest(1), two.digest(0) == two.digest(1)), (one.digest(0), false));
    }

    #[test]
    fn the_network_does_what_the_action_says() {
        let mut queue = episodes("queue", "ap.queue", "agent_queue", 1);
        queue.reset(0, 1, Span::from_secs(2)).unwrap();
        let waiting = |stepped: &Stepped| stepped.seen[0];
        let short = (0..20).map(|_| waiting(&queue.step(&[10.0]).unwrap())).fold(0.0, f64::max);
        assert!(short <= 10.0, "{short} packets wait");
        let window = |segments: f64| {
            let mut all = episodes("window", "flow.up.tcp", r#"{ cc = "agent_window" }"#, 1);
            all.reset(0, 1, Span::ZERO).unwrap();
            let steps: Vec<Stepped> = (0..20).map(|_| all.step(&[segments; 2]).unwrap()).collect();
            steps.iter().map(|s| s.goodput[10..].iter().sum::<f64>()).sum::<f64>() / 20.0
        };
        assert!(10.0 * window(1.0) < window(40.0), "{} {}", window(1.0), window(40.0));
    }

    #[test]
    fn wrong_calls_are_refused() {
        let mut one = episodes("queue", "ap.queue", "agent_queue", 1);
        assert!(one.step(&[1.0]).unwrap_err().what.contains("not begun"));
        one.reset(0, 1, Span::ZERO).unwrap();
        assert!(one.step(&[]).unwrap_err().remedy.contains("give 1 finite"));
        assert!(one.step(&[f64::NAN]).is_err() && one.reset(1, 1, Span::ZERO).is_err());
    }
}
