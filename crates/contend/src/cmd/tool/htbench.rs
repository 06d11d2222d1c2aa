//! `contend tool htbench`: HTTP transfers of several classes, from a file.

use super::super::real::{self, Format, VERSION};
use super::super::{refused, say, wrong};
use super::ended;
use crate::Done;
use clap::Subcommand;
use contend_lab::reading::expression::quantity;
use contend_tools::address;
use contend_tools::htbench::{self, Class, Method, Plan};
use miette::{Report, Result};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml_edit::{DocumentMut, Item, Table};

const EXAMPLES: &str = "\
Examples:
  contend tool htbench serve --listen 0.0.0.0:8000         on the server
  contend tool htbench run bench.toml --volume volume.csv  on the client
  contend tool htbench start 192.168.1.255:7000            starts all clients whose file has wait = \"0.0.0.0:7000\"

A file of three downloads and an upload at a time:
  total = 40

  [[class]]
  name = \"down\"
  server = \"10.0.0.2:8000\"
  path = \"/10MB\"
  concurrency = 3

  [[class]]
  name = \"up\"
  server = \"10.0.0.2:8000\"
  method = \"PUT\"
  path = \"/discard\"
  size = \"10MB\"";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, verbatim_doc_comment)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Run the transfers of a file
    Run(RunArgs),
    /// Serve: GET /10MB gets so many bytes, the body of a PUT is discarded
    Serve {
        /// Where to listen: :8000 is port 8000 of 127.0.0.1
        #[arg(long, value_name = "[ADDRESS]:PORT")]
        listen: String,
    },
    /// Start waiting clients by a UDP packet to one address, or to a broadcast address
    Start {
        /// The clients
        #[arg(value_name = "HOST:PORT")]
        to: String,
    },
}

#[derive(Debug, clap::Args)]
struct RunArgs {
    /// The file with the classes of requests
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write how the volume of each transfer grows to this file
    #[arg(long, value_name = "FILE")]
    volume: Option<PathBuf>,
    /// The longest time between two samples of the volume
    #[arg(long, value_name = "TIME", value_parser = real::some_time, default_value = "100ms")]
    every: Duration,
    /// A transfer on which nothing moves for so long has failed
    #[arg(long, value_name = "TIME", value_parser = real::some_time, default_value = "60s")]
    patience: Duration,
    /// What to print on standard output at the end
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Done> {
    match &args.what {
        What::Run(a) => transfers(a),
        What::Serve { listen } => {
            let at = address::listening(listen).map_err(refused)?;
            let stop = real::stop_on_ctrl_c()?;
            let served = htbench::serve(at, &stop, &mut |at| say(&format!("contend: serving on {at}; Ctrl-C ends it")));
            super::super::print(&format!("{} requests were answered\n", served.map_err(refused)?))?;
            Ok(ended(&stop))
        }
        What::Start { to } => {
            htbench::start(address::resolve(to).map_err(refused)?[0]).map_err(refused)?;
            Ok(Done::Well)
        }
    }
}

fn transfers(a: &RunArgs) -> Result<Done> {
    let text = std::fs::read_to_string(&a.file).map_err(|e| {
        wrong(format!("{} cannot be read: {e}", a.file.display()), "contend tool htbench --help shows such a file")
    })?;
    let plan = plan(&a.file, &text, a)?;
    let mut file = real::trace_file(a.volume.as_deref())?;
    let mut unwritten = file.as_mut().and_then(|f| writeln!(f, "class,request,t_s,volume_bytes").err());
    let stop = real::stop_on_ctrl_c()?;
    let mut sample = |class: usize, number: u64, s: htbench::Sample| {
        if let Some(f) = &mut file
            && unwritten.is_none()
        {
            unwritten = writeln!(f, "{},{number},{:.6},{}", plan.classes[class].name, s.t_s, s.volume).err();
        }
    };
    let report = htbench::run(&plan, &stop, &mut sample).map_err(refused)?;
    real::close(file, unwritten, a.volume.as_deref())?;
    a.format.print(|| report.table(&plan), || report.to_json(&plan, VERSION))?;
    // A script must see that requests failed.
    Ok(match ended(&stop) {
        Done::Well if report.failed() > 0 => Done::Unmet,
        done => done,
    })
}

/// The most requests, and the most transfers at the same time.
const MOST_REQUESTS: u64 = 1_000_000;
const MOST_AT_ONCE: u64 = 1000;

/// Reads the file.
fn plan(path: &Path, text: &str, a: &RunArgs) -> Result<Plan> {
    let at = |what: String, remedy: &str| wrong(format!("{}: {what}", path.display()), remedy);
    let doc: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| {
        at(format!("this is no TOML: {}", e.message()), "contend tool htbench --help shows such a file")
    })?;
    let top = Keys { table: doc.as_table(), place: String::new(), at: &at };
    top.only(&["total", "wait", "seed", "class"])?;
    let tables = match top.table.get("class") {
        Some(Item::ArrayOfTables(t)) => t.iter().collect::<Vec<_>>(),
        _ => return Err(at("there is no [[class]]".into(), "write at least one class of requests")),
    };
    let classes = tables.into_iter().enumerate().map(|(k, table)| {
        let keys = Keys { table, place: format!("class.{k}."), at: &at };
        keys.only(&["name", "server", "host", "path", "method", "size", "local", "concurrency"])?;
        let server = keys.text("server")?.ok_or_else(|| keys.missing("server", "a host with a port"))?;
        let resolved = address::resolve(&server).map_err(|e| at(format!("class.{k}.server: {}", e.what), &e.remedy))?;
        let local = keys.text("local")?.map(|ip| {
            ip.parse()
                .map_err(|_| at(format!("class.{k}.local: `{ip}` is no address"), "write an address of this machine"))
        });
        let local: Option<std::net::IpAddr> = local.transpose()?;
        let size = keys.text("size")?.map(|s| {
            quantity::bytes(&s, 1 << 50)
                .map_err(|e| at(format!("class.{k}.size: {}", e.what), "write a size like \"10MB\""))
        });
        let method = match (keys.text("method")?.as_deref().unwrap_or("GET"), size.transpose()?) {
            ("GET", None) => Method::Get,
            ("GET", Some(_)) => {
                return Err(at(format!("class.{k}.size is of a PUT"), "a GET gets what its path names"));
            }
            ("PUT", Some(size)) => Method::Put { size },
            ("PUT", None) => return Err(keys.missing("size", "the bytes that a PUT sends, like \"10MB\"")),
            (other, _) => return Err(at(format!("class.{k}.method: there is no `{other}` here"), "write GET or PUT")),
        };
        Ok(Class {
            name: keys.text("name")?.unwrap_or_else(|| format!("class{k}")).replace([',', '\n'], "_"),
            // The address of the family of the own one.
            server: *resolved.iter().find(|s| local.is_none_or(|l| l.is_ipv4() == s.is_ipv4())).unwrap_or(&resolved[0]),
            host: keys.text("host")?.unwrap_or_else(|| server.rsplit_once(':').map_or("", |s| s.0).to_owned()),
            path: keys.text("path")?.unwrap_or_else(|| "/".to_owned()),
            method,
            local,
            concurrency: keys.number("concurrency", 1, 1, MOST_AT_ONCE)? as usize,
        })
    });
    let classes = classes.collect::<Result<Vec<Class>>>()?;
    if classes.iter().map(|c| c.concurrency as u64).sum::<u64>() > MOST_AT_ONCE {
        return Err(at(format!("more than {MOST_AT_ONCE} transfers at the same time"), "lower `concurrency`"));
    }
    let bad = |c: char| c.is_control() || c == ' ';
    if let Some(c) = classes.iter().find(|c| c.path.contains(bad) || c.host.contains(bad) || !c.path.starts_with('/')) {
        return Err(at(
            format!("the path `{}` or its host cannot be asked for", c.path),
            "write a path like \"/10MB\"",
        ));
    }
    let wait = top.text("wait")?.map(|w| address::listening(&w).map_err(refused)).transpose()?;
    let total = top.number("total", 0, 1, MOST_REQUESTS)?;
    let seed = top.number("seed", 1, 0, u64::MAX)?;
    Ok(Plan { classes, total, wait, seed, every: a.every, patience: a.patience })
}

/// A table, with the place that messages name.
struct Keys<'a, F> {
    table: &'a Table,
    place: String,
    at: &'a F,
}

impl<F: Fn(String, &str) -> Report> Keys<'_, F> {
    fn only(&self, known: &[&str]) -> Result<()> {
        match self.table.iter().find(|(k, _)| !known.contains(k)) {
            Some((k, _)) => {
                let nearest = contend_lab::nearest(k, known.iter().copied());
                let remedy =
                    nearest.map_or(format!("the keys are {}", known.join(", ")), |n| format!("did you mean `{n}`?"));
                Err((self.at)(format!("there is no key `{}{k}`", self.place), &remedy))
            }
            None => Ok(()),
        }
    }

    fn missing(&self, key: &str, what: &str) -> Report {
        (self.at)(format!("`{}{key}` is missing", self.place), &format!("write {what}"))
    }

    fn text(&self, key: &str) -> Result<Option<String>> {
        let wrong = || (self.at)(format!("`{}{key}` is no text", self.place), "write it in quotation marks");
        self.table.get(key).map(|i| i.as_str().map(str::to_owned).ok_or_else(wrong)).transpose()
    }

    /// A whole number; `default` 0 stands for a key that must be there.
    fn number(&self, key: &str, default: u64, least: u64, most: u64) -> Result<u64> {
        match self.table.get(key) {
            None if default < least => Err(self.missing(key, &format!("a whole number from {least}"))),
            None => Ok(default),
            Some(item) => {
                let n = item.as_integer().and_then(|n| u64::try_from(n).ok());
                n.filter(|n| (least..=most).contains(n)).ok_or_else(|| {
                    let remedy = format!("write a whole number from {least} to {most}");
                    (self.at)(format!("`{}{key}` cannot be this", self.place), &remedy)
                })
            }
        }
    }
}
