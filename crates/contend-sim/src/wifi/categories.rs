//! Stations with categories: their queues and backoffs, and what happens when several of one station are due at once.
//!
//! The station's own entry of [`Cell::stations`] is its best-effort category; the others follow behind the last
//! station. With one backoff for all ([`Scheduling::BeforeBackoff`]) they are queues only, and the station's own entry
//! contends for what is in them.

use super::access::{Category, Scheduling};
use super::cell::Cell;
use super::mac::Station;
use super::phy::Phy;
use super::{Contender, StationId};
use crate::scenario::StationSpec;
use crate::world::Out;
use contend_core::qdisc::Site;
use contend_core::{Packet, Time};

impl Cell {
    /// Gives station `owner` its further categories, when its rule has some.
    pub(super) fn add_categories(
        &mut self,
        seed: u64,
        phy: &Phy,
        owner: StationId,
        spec: &StationSpec,
        site: &Site,
    ) -> Result<(), String> {
        let scheduling = self.stations[owner as usize].access.scheduling();
        if scheduling == Scheduling::One {
            return Ok(());
        }
        let mut lanes = [owner; 4];
        for category in Category::ALL.into_iter().filter(|c| *c != Category::Be) {
            let who = self.stations.len() as Contender;
            let name = format!("{}.{}", spec.name, category.name());
            let entry = self.entry(seed, phy, spec, site, owner, category, &name)?;
            let mac = if scheduling == Scheduling::AfterBackoff { who } else { owner };
            self.stations.push(Station { mac, ..entry });
            self.further.push(name);
            lanes[category as usize] = who;
        }
        self.stations[owner as usize].categories = Some(lanes);
        Ok(())
    }

    /// Which of the queues `lanes` of a station `p` goes to, who contends for it, and whether that has no frame.
    pub(super) fn lane(&self, lanes: &[Contender; 4], p: &Packet) -> (Contender, Contender, bool) {
        let lane = lanes[self.air.category(p) as usize];
        let mac = self.stations[lane as usize].mac;
        (lane, mac, self.stations[mac as usize].job.is_none())
    }

    /// Everything that belongs to station `who`.
    pub(super) fn entries(&self, who: StationId) -> impl Iterator<Item = &Station> {
        let own = self.stations.get(who as usize);
        let lanes = own.and_then(|s| s.categories).unwrap_or([who; 4]);
        let further =
            lanes.into_iter().filter(move |&lane| lane != who).filter_map(|lane| self.stations.get(lane as usize));
        own.into_iter().chain(further)
    }

    /// Frames that station `who` has in service.
    pub(super) fn in_service_at(&self, who: StationId) -> u64 {
        self.entries(who).filter(|s| s.job.is_some()).count() as u64
    }

    /// Whether a station with these entries has one backoff for all of them.
    pub(super) fn one_backoff(&self, lanes: &[Contender; 4]) -> bool {
        let own = lanes[Category::Be as usize];
        self.stations[lanes[Category::Vo as usize] as usize].mac == own
    }

    /// The categories of the station of `who` that are higher; none when it has no categories.
    fn above(&self, who: Contender) -> impl Iterator<Item = Contender> {
        let lanes = self.stations[self.stations[who as usize].owner as usize].categories;
        lanes.into_iter().flatten().take_while(move |&lane| lane != who)
    }

    /// Of those of `senders` that belong to one station only the highest stays; for the others it is a failed attempt
    /// that used no air.
    pub(super) fn collide_inside(&mut self, now: Time, senders: &mut Vec<Contender>, out: &mut Out<'_>) {
        // IEEE 802.11-2016 §10.22.2.4: the category that is not the highest of those granted behaves as after an
        // external collision.
        let mut lost: Vec<Contender> = Vec::new();
        senders.retain(|&who| {
            let stays = !self.above(who).any(|higher| self.contention.sends(higher));
            if !stays {
                lost.push(who);
            }
            stays
        });
        for who in lost {
            self.stations[who as usize].counters.internal += 1;
            self.failed(now, who, false, None, out);
        }
    }

    /// All of station `who` but its entry `except` resume when its inter-frame space has passed after `quiet`, whatever
    /// others do. The medium has just turned idle.
    pub(super) fn resume_station(&mut self, who: StationId, except: Option<Contender>, quiet: Time) {
        let lanes = match self.stations[who as usize].categories {
            Some(lanes) if !self.one_backoff(&lanes) => lanes,
            _ => [who; 4],
        };
        for (i, lane) in lanes.into_iter().enumerate() {
            let again = i > 0 && lane == lanes[0];
            if Some(lane) != except && !again {
                self.contention.resume_alone(lane, quiet + self.contention.ifs(lane));
            }
        }
    }

    /// Tells the network card in front of the station of queue `lane`, in which so many packets wait, to pause or go
    /// on.
    pub(super) fn watch(&mut self, lane: Contender, waiting: u64, out: &mut Out<'_>) {
        let owner = self.stations[lane as usize].owner;
        // The fullest queue decides.
        let lanes = self.stations[owner as usize].categories.unwrap_or([lane; 4]);
        let others = lanes.into_iter().filter(|&l| l != lane).map(|l| self.stations[l as usize].meter.waiting());
        let waiting = others.max().unwrap_or(0).max(waiting);
        self.stations[owner as usize].host.watch(waiting, out);
    }
}
