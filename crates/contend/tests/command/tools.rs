//! `contend tool` as a user calls it: between sockets of this machine, and between network namespaces.

use super::Bench;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A call of contend that goes on while the test does something else.
struct Running(Child);

impl Running {
    /// Calls `contend` in the bench's folder, by `through` (like `ip netns exec NAME`) if that is not empty.
    fn call(bench: &Bench, through: &[&str], args: &[&str]) -> Running {
        let contend = assert_cmd::cargo::cargo_bin!("contend").to_str().unwrap();
        let all: Vec<&str> = through.iter().copied().chain([contend]).chain(args.iter().copied()).collect();
        let mut command = Command::new(all[0]);
        command.args(&all[1..]).current_dir(bench.path("")).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running(command.spawn().unwrap())
    }

    /// Waits for the line with which it says where it listens. Returns that address.
    fn address(&mut self) -> String {
        let mut said = String::new();
        BufReader::new(self.0.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
        said.split_whitespace().nth(3).expect(&said).trim_end_matches(';').to_owned()
    }

    fn interrupt(&self) {
        super::signal("-INT", self.0.id());
    }

    /// Waits for the end, and reads its object.
    fn object(self, status: i32) -> Value {
        let output = self.0.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{text}{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_str(&text).expect(&text)
    }
}

#[test]
fn cbr_sends_and_counts() {
    let bench = Bench::new();
    let mut sink = Running::call(&bench, &[], &["tool", "cbr", "receive", "--listen", ":0", "--format", "json"]);
    let at = sink.address();
    let args = ["tool", "cbr", "send", &at, "--rate", "4Mbps", "--packets", "200", "--rtt", "--rtt-file", "rtt.csv"];
    let sent = bench.contend(&[&args[..], &["--packet", "500B", "--format", "json"]].concat()).with(0).object();
    assert_eq!((&sent["packets"], &sent["bytes"], &sent["answers"]), (&200.into(), &100_000.into(), &20.into()));
    let samples = std::fs::read_to_string(bench.path("rtt.csv")).unwrap();
    assert_eq!((samples.lines().next(), samples.lines().count()), (Some("t_s,rtt_us"), 21));
    sink.interrupt();
    let heard = sink.object(130);
    let sender = &heard["senders"][0];
    assert_eq!((&sender["packets"], &sender["lost"]), (&200.into(), &0.into()));
}

#[test]
fn htbench_runs_the_classes_of_a_file() {
    let bench = Bench::new();
    let mut server = Running::call(&bench, &[], &["tool", "htbench", "serve", "--listen", ":0"]);
    let at = server.address();
    let down = format!("[[class]]\nname = \"down\"\nserver = \"{at}\"\npath = \"/200kB\"\nconcurrency = 2\n");
    let up = format!("[[class]]\nname = \"up\"\nserver = \"{at}\"\nmethod = \"PUT\"\nsize = \"100kB\"\n");
    bench.file("bench.toml", format!("total = 12\n{down}{up}"));
    let ended = bench.contend(&["tool", "htbench", "run", "bench.toml", "--volume", "v.csv", "--format", "json"]);
    let o = ended.with(0).object();
    let requests = o["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 12);
    for r in requests {
        assert_eq!(r["bytes"], if r["class"] == "down" { 200_000 } else { 100_000 }, "{r}");
    }
    assert!(std::fs::read_to_string(bench.path("v.csv")).unwrap().starts_with("class,request,t_s,volume_bytes\n"));
    server.interrupt();
    let _ = server.0.wait();
    let wrong = |text: &str, parts: &[&str]| {
        bench.file("wrong.toml", text);
        bench.contend(&["tool", "htbench", "run", "wrong.toml"]).with(2).says(parts);
    };
    wrong("total = 1", &["wrong.toml: there is no [[class]]"]);
    wrong("totl = 1\n[[class]]", &["there is no key `totl`", "did you mean `total`?"]);
    wrong("total = 1\n[[class]]", &["`class.0.server` is missing"]);
    wrong(&format!("total = 0\n{down}"), &["`total` cannot be this", "1 to 1000000"]);
    wrong(&format!("total = 1\n{up}concurrency = 2000"), &["`class.0.concurrency` cannot be this"]);
    wrong(&format!("total = 1\n{}", up.replace("size = \"100kB\"", "")), &["`class.0.size` is missing"]);
    wrong(&format!("total = 1\n{}", up.replace("PUT", "POST")), &["there is no `POST` here", "GET or PUT"]);
}

#[test]
fn a_trace_of_the_monitor_is_analysed() {
    let bench = Bench::new();
    let mut server = Running::call(&bench, &[], &["tool", "htbench", "serve", "--listen", ":0"]);
    let at = server.address();
    let port = at.rsplit_once(':').unwrap().1;
    let args = ["tool", "monitor", "trace.csv", "--port", port, "--every", "1ms", "--look", "1ms", "--format", "json"];
    let monitor = Running::call(&bench, &[], &args);
    bench.file("b.toml", format!("total = 20\n[[class]]\nserver = \"{at}\"\nmethod = \"PUT\"\nsize = \"20MB\"\n"));
    bench.contend(&["tool", "htbench", "run", "b.toml"]).with(0);
    monitor.interrupt();
    assert!(monitor.object(130)["connections"].as_u64().unwrap() > 0);
    server.interrupt();
    let _ = server.0.wait();
    let o = bench.contend(&["analyse", "sender", "trace.csv", "--flow", &format!(">{at}"), "--format", "json"]);
    let o = o.with(0).object();
    let senders = o["senders"].as_array().unwrap();
    assert!(!senders.is_empty() && senders.iter().all(|s| s["cwnd"]["min"].as_u64().unwrap() > 0), "{o}");
    bench.contend(&["analyse", "sender", "trace.csv"]).with(0).says(&[]).out.contains("ACK gaps");
    bench.file("other.csv", "a,b\n1,2\n");
    bench.contend(&["analyse", "sender", "other.csv"]).with(2).says(&["no column `t_s`", "contend tool monitor"]);
}

/// What is not checked where they cannot be made.
const ROW: &str = "contend tool ap-buffer between network namespaces";

/// Three namespaces in a row: a wire of 100 Mb/s, then a queue of `limit` packets, which is served at 30 Mb/s.
struct Row(Vec<String>);

impl Row {
    fn new(limit: u32) -> Result<Row, String> {
        static ROWS: AtomicU32 = AtomicU32::new(0);
        let k = ROWS.fetch_add(1, Ordering::Relaxed);
        // Names of interfaces have 15 characters at most.
        let names = ["a", "r", "b"].map(|x| format!("c{}{k}{x}", std::process::id()));
        let row = Row(names.to_vec());
        let [a, r, b] = names;
        let run = |line: String| -> Result<(), String> {
            let mut words = line.split_whitespace();
            let output =
                Command::new(words.next().unwrap()).args(words).output().map_err(|e| format!("{line}: {e}"))?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(()) } else { Err(format!("{line}: {}", said.trim())) }
        };
        for n in [&a, &r, &b] {
            run(format!("ip netns add {n}"))?;
        }
        for (x, y, net) in [(&a, &r, "10.77.1"), (&r, &b, "10.77.2")] {
            run(format!("ip link add to{y} netns {x} type veth peer name to{x} netns {y}"))?;
            for (at, dev, last) in [(x, y, 1), (y, x, 2)] {
                run(format!("ip -n {at} address add {net}.{last}/24 dev to{dev}"))?;
                run(format!("ip -n {at} link set to{dev} up"))?;
            }
        }
        run(format!("ip -n {a} route add default via 10.77.1.2"))?;
        run(format!("ip -n {b} route add default via 10.77.2.1"))?;
        run(format!("ip netns exec {r} sysctl -qw net.ipv4.ip_forward=1"))?;
        // The document's wire: 100 Mb/s. The source waits for its own queue, which loses nothing.
        for (at, dev, rate, limit) in [(&r, &b, 30, limit), (&a, &r, 100, 100_000)] {
            run(format!("tc -n {at} qdisc add dev to{dev} root handle 1: htb default 1"))?;
            run(format!("tc -n {at} class add dev to{dev} parent 1: classid 1:1 htb rate {rate}mbit quantum 1514"))?;
            run(format!("tc -n {at} qdisc add dev to{dev} parent 1:1 pfifo limit {limit}"))?;
        }
        Ok(row)
    }

    /// The words that run a program in the first or the last namespace.
    fn inside(&self, k: usize) -> [&str; 4] {
        ["ip", "netns", "exec", &self.0[k]]
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        for n in &self.0 {
            let _ = Command::new("ip").args(["netns", "delete", n]).stderr(Stdio::null()).status();
        }
    }
}

/// Bursts through a queue of `limit` packets.
fn probe(row: &Row, trials: u32) -> Value {
    let bench = Bench::new();
    let count = trials.to_string();
    let args = ["tool", "ap-buffer", "receive", "--listen", "10.77.2.2:7001", "--trials", &count, "--format", "json"];
    let mut sink = Running::call(&bench, &row.inside(2), &[&args[..], &["--patience", "60s"]].concat());
    let at = sink.address();
    let real_time = ["chrt", "-R", "-f", "10"];
    let through = [&row.inside(0)[..], &real_time].concat();
    let args = ["tool", "ap-buffer", "send", &at, "--trials", &count, "--packets", "1500"];
    let mut source = Running::call(&bench, &through, &args);
    let mut said = String::new();
    source.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(source.0.wait().unwrap().success(), "{said}");
    sink.object(0)
}

#[test]
fn bursts_find_the_queue_in_the_middle() {
    if super::needs::without(&["ip", "tc", "sysctl", "chrt"], ROW) {
        return;
    }
    let row = match Row::new(100) {
        Ok(row) => row,
        Err(why) => {
            let required = std::env::var("CONTEND_REQUIRE").is_ok_and(|r| r.split(',').any(|r| r == "emu"));
            assert!(!required, "{why}");
            super::needs::skip(&why, ROW);
            return;
        }
    };
    let o = probe(&row, 3);
    // A queue of 100 packets accepts the first 100 of a burst, whatever the speed. The correction, which depends on
    // speeds, never adds any.
    assert!(o["naive"]["min"].as_f64().unwrap() >= 100.0, "{o}");
    assert!(o["packets"]["max"].as_f64().unwrap() <= o["naive"]["max"].as_f64().unwrap(), "{o}");
    assert_eq!(o["payload_bytes"], 1472);
}

/// The acceptance of the specification, on a quiet machine: `cargo test -p contend --test command -- --ignored median`.
#[test]
#[ignore = "depends on the speed of the machine"]
fn the_median_of_ten_is_within_five_percent() {
    for limit in [100, 300] {
        let o = probe(&Row::new(limit).unwrap(), 10);
        println!("{limit}: {}", serde_json::json!([o["packets"], o["naive"], o["trials"]]));
        let median = o["packets"]["median"].as_f64().unwrap();
        assert!((median / f64::from(limit) - 1.0).abs() <= 0.05, "{limit}: {o}");
    }
}
