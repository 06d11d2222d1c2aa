//! The wires of a network: `[[link]]`, and `[wire]` for each flow to a server.

use super::super::choice::default_choice;
use super::super::error::FileError;
use super::super::reader::{Fields, Val};
use super::super::wifi::{read_loss, read_queue};
use super::super::wire_rate::wire_rate;
use super::{Builder, WIRE_DELAY, WIRE_QUEUE};
use crate::reading::roster::QDISCS;
use contend_sim::scenario::{LinkSpec, Place, WireSpec};

impl<'a> Builder<'a> {
    pub(super) fn link(&mut self, v: &Val<'a>) -> Result<(), FileError> {
        let mut f = v.table()?;
        let (from_at, to_at) = (f.need("from", "\"router\"")?, f.need("to", "\"ap\"")?);
        let (from, to) = (self.places.link_end(&from_at)?, self.places.link_end(&to_at)?);
        if from == to {
            return Err(to_at.error("is also the start of the link", "name two places"));
        }
        let name = f.get("name");
        let name = self.places.add_link(name.as_ref(), from_at.text()?, to_at.text()?)?;
        self.linked.extend([from, to].iter().filter_map(|p| if let Place::Ap(i) = p { Some(*i) } else { None }));
        let (forward, reverse) = self.wires(f, None, false)?;
        self.links.push(LinkSpec { name, from, to, forward, reverse });
        Ok(())
    }

    /// Reads both directions of a wire from `f`. Keys missing in `reverse` are as in the forward direction. `delay` has
    /// priority over the delay in `f`.
    pub(super) fn wires(
        &mut self,
        mut f: Fields<'a>,
        delay: Option<&Val<'a>>,
        check_only: bool,
    ) -> Result<(WireSpec, WireSpec), FileError> {
        let losses = self.losses.len();
        let default = WireSpec {
            rate: self.wire_rate.clone(),
            delay: WIRE_DELAY,
            queue: default_choice(f.cx, QDISCS.all(), "fifo", &[("limit", WIRE_QUEUE)])?,
            loss: None,
        };
        let mut forward = self.wire(&mut f, default)?;
        if let Some(delay) = delay {
            forward.delay = delay.span()?;
        }
        let reverse = match f.get("reverse") {
            Some(v) => {
                let mut f = v.table()?;
                let reverse = self.wire(&mut f, forward.clone())?;
                f.finish()?;
                reverse
            }
            None => forward.clone(),
        };
        f.finish()?;
        if check_only {
            self.losses.truncate(losses);
        }
        Ok((forward, reverse))
    }

    fn wire(&mut self, f: &mut Fields<'a>, default: WireSpec) -> Result<WireSpec, FileError> {
        Ok(WireSpec {
            rate: f.read_or("rate", default.rate, |v| wire_rate(&v, self.traces))?,
            delay: f.read_or("delay", default.delay, |v| v.span())?,
            queue: read_queue(f)?.unwrap_or(default.queue),
            loss: f.get("loss").map_or(Ok(default.loss), |v| read_loss(v, &mut self.losses))?,
        })
    }
}
