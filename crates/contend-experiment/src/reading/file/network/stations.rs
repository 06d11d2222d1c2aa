//! The stations of a network: `[[station]]`.

use super::super::aggregation::{Aggregating, read_aql};
use super::super::channel::{check_snr, read_channel};
use super::super::choice::{NamedList, choice, default_choice, objection};
use super::super::data_rate::{data_rate, station_standard};
use super::super::error::FileError;
use super::super::field::observers;
use super::super::reader::{Fields, Val};
use super::super::wifi::{Wifi, read_access, read_loss, read_queue};
use super::groups::member;
use super::{BRIDGE_QUEUE, Builder, MOST};
use crate::reading::roster::QDISCS;
use contend_core::observe;
use contend_sim::scenario::{Place, StationSpec};
use contend_sim::wifi::client::{self, Client};

/// Reads the `client` of a station.
fn read_client(v: Val) -> Result<Client, FileError> {
    let client = choice(&v, client::REGISTRY, "kind of client")?;
    objection(&v, client.entry.name, (client.entry.build)(&client.args))
}

impl<'a> Builder<'a> {
    pub(super) fn stations(&mut self, v: &Val<'a>, wifi: &Wifi) -> Result<(), FileError> {
        let mut f = v.table()?;
        let name = f.need("name", "\"slow\"")?;
        let count = f.read("count", |v| v.integer(0..=MOST))?;
        let first = self.stations.len();
        let group = match count {
            _ if name.text()? == "server" => {
                return Err(name.error(
                    "cannot be \"server\", which is the wired end of a flow",
                    "choose another name, like \"nas\"",
                ));
            }
            None => self.places.add(&name, Place::Station(first))?,
            Some(n) => self.places.add_group(&name, first, n as usize)?,
        };
        let n = count.unwrap_or(1);
        for k in 1..=n.max(1) {
            let mut f = member(v, k, n.max(1))?;
            let (_, _) = (f.get("name"), f.get("count"));
            let site = self.sites.all.len();
            self.sites.read(self.field.as_ref(), v, &mut f, Some(k as usize), self.traces)?;
            let ap = f.read("ap", |v| self.places.ap(&v))?;
            if let (Some(at), true) = (f.get("roam"), self.aps.len() < 2)
                && self.sites.all.last().is_some_and(|(_, site)| site.roam.is_some())
            {
                return Err(at.error("changes the access point, but there is only one", "add another [[ap]]"));
            }
            let losses = self.losses.len();
            let client = f.read("client", read_client)?;
            let standard = station_standard(&mut f, &wifi.phy)?;
            let like_cell = (standard == wifi.phy.standard).then_some(wifi.phy.data);
            let rate = data_rate(&mut f, standard, &wifi.phy, like_cell)?;
            let aggregation = Aggregating::read(&mut f, &wifi.phy, standard, Some(&wifi.aggregation))?;
            let aggregation = aggregation.of(wifi.mac.retry_short);
            let spec = StationSpec {
                name: if count.is_some() { format!("{group}.{k}") } else { group.clone() },
                rate,
                queue: match (read_queue(&mut f)?, &client) {
                    (Some(queue), _) => queue,
                    // The default queue of a converter is smaller than a host's.
                    (None, Some(Client::Converter(_))) => {
                        default_choice(f.cx, QDISCS.all(), "fifo", &[("limit", BRIDGE_QUEUE)])?
                    }
                    (None, _) => wifi.queue.clone(),
                },
                aql: read_aql(&mut f, aggregation.is_some())?,
                aggregation,
                loss: f.get("loss").map_or(Ok(wifi.loss.clone()), |v| read_loss(v, &mut self.losses))?,
                access: f.read_or("access", wifi.access.clone(), |v| read_access(&v, &wifi.phy))?,
                channel: read_channel(&mut f, &wifi.channel)?,
                client,
                observe: self.observers(&mut f)?,
            };
            check_snr(&spec.channel, self.has_snr, &mut |key, message, help| {
                f.get(key).map_or_else(
                    || f.error(format!("has a channel whose {key} {message}"), help),
                    |v| v.error(message, help),
                )
            })?;
            f.finish()?;
            if n == 0 {
                self.losses.truncate(losses);
                self.sites.all.truncate(site);
                return Ok(());
            }
            self.add_station(v, spec, ap)?;
        }
        Ok(())
    }

    /// Reads the observers of a station or access point.
    pub(super) fn observers(&self, f: &mut Fields<'a>) -> Result<NamedList<observe::Build>, FileError> {
        match (f.get("observe"), &self.field) {
            (Some(v), None) => Err(v.error("needs a field", "add [field] range = \"250m\", or remove `observe`")),
            (Some(v), Some(_)) => observers(&v),
            (None, field) => Ok(field.as_ref().map_or_else(Vec::new, |f| f.observe.clone())),
        }
    }

    pub(super) fn add_station(&mut self, v: &Val, spec: StationSpec, ap: Option<usize>) -> Result<Place, FileError> {
        if self.stations.len() as u64 >= MOST {
            return Err(v.error(format!("makes more than {MOST} stations"), "write a smaller count"));
        }
        self.stations.push(spec);
        self.association.push(ap);
        Ok(Place::Station(self.stations.len() - 1))
    }
}
