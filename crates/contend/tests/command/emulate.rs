//! `contend emulate`, where namespaces and TUN devices are. Otherwise the tests say that they are skipped;
//! `CONTEND_REQUIRE=emu` makes that a failure. No test depends on the speed of the machine: the lateness of a run is
//! not judged here, and the arithmetic of the verdict has its own tests.

use super::Bench;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

/// One upload with a known round-trip time.
const ONE: &str = r#"
title = "One upload"
duration = "4s"
warmup = "1s"
[wifi]
standard = "802.11g"
rate = "54Mbps"
basic = "6Mbps"
[[flow]]
name = "up"
from = "station"
to = "server"
tcp = "newreno"
ack = 2
delay = "10ms"
window = "42p"
"#;

/// A download over two hops of a field.
const FIELD: &str = r#"
title = "Two hops"
duration = "3s"
warmup = "500ms"
[wifi]
standard = "802.11b"
rate = "11Mbps"
basic = "1Mbps"
[field]
range = "250m"
sense = "550m"
routing = "static"
[[station]]
name = "hop"
count = 3
position = ["= 200m * k", "0m"]
[[flow]]
name = "far"
from = "hop.1"
to = "hop.3"
tcp = "reno"
window = "20p"
"#;

/// A datagram flow and a file over 802.11ax with aggregates.
const MODERN: &str = r#"
title = "Aggregates"
duration = "3s"
warmup = "500ms"
[wifi]
standard = "802.11ax"
width = "20MHz"
streams = 1
mcs = 3
access = "edca"
ampdu = {}
[ap]
queue = "fq_codel"
[[flow]]
name = "call"
from = "server"
to = "station"
udp = { rate = "1Mbps", packet = "200B" }
delay = "5ms"
[[flow]]
name = "file"
from = "station"
to = "server"
tcp = "cubic"
delay = "5ms"
window = "60p"
"#;

/// True if the test must be skipped, which is said.
fn skipped() -> bool {
    let Some(why) = contend_emu::needs::missing() else { return false };
    let required = std::env::var("CONTEND_REQUIRE").is_ok_and(|all| all.split(',').any(|one| one == "emu"));
    assert!(!required, "CONTEND_REQUIRE=emu, but {why}");
    super::needs::skip(&why, "contend emulate with real hosts");
    true
}

/// The goodput in Mb/s of the first run of a JSON object.
fn goodput(o: &Value) -> f64 {
    o["runs"][0]["metrics"]["goodput.up"].as_f64().unwrap() / 1e6
}

#[test]
fn a_dry_run_shows_hosts_and_flows_without_any_privilege() {
    let bench = Bench::with("one.toml", ONE);
    let out = bench.contend(&["emulate", "one.toml", "--dry-run", "--in", "server", "--", "iperf3", "-s"]).with(0).out;
    let want = "hosts\n  up.sta     sta0      10.77.0.1\n  up.server  server0   10.77.0.2\nflows\n  up  up.sta -> \
        up.server port 20000\nprograms\n  up.server  0 s  iperf3 -s\n";
    assert_eq!(out, want);
    bench
        .contend(&["emulate", "one.toml", "--dry-run", "--in", "nobody", "--", "true"])
        .with(2)
        .says(&["there is no host \"nobody\"", "up.sta"]);
}

#[test]
fn the_kernel_cannot_carry_what_it_does_not_know() {
    let bench = Bench::with("one.toml", &ONE.replace("newreno", "jersey"));
    bench.contend(&["emulate", "one.toml", "--dry-run"]).with(2).says(&["flow up", "jersey", "emulate = \"kernel\""]);
}

#[test]
fn a_replay_has_the_digest_of_the_emulation() {
    if skipped() {
        return;
    }
    let bench = Bench::with("one.toml", ONE);
    let ended = bench.contend(&["emulate", "one.toml", "--format", "json"]);
    assert!(matches!(ended.status, Some(0 | 1)), "{}", ended.err);
    let (emulated, kept) = (ended.object(), bench.json("results/one/summary.json"));
    assert_eq!(emulated["runs"][0]["digest"], kept["runs"][0]["digest"]);
    let e = &emulated["runs"][0]["emulation"];
    assert_eq!((e["overwritten"].as_u64(), e["refused"].as_object().unwrap().len()), (Some(0), 0), "{e}");
    // Whatever the machine's load, some data pass, and no more than the air carries.
    assert!((0.5..30.0).contains(&goodput(&emulated)), "{}", goodput(&emulated));
    let late = e["late"].as_str().unwrap();
    assert_eq!(ended.status, Some(i32::from(!late.is_empty())), "{late}");
    let again = bench.contend(&["run", "--replay", "results/one", "--no-results", "--format", "json"]).with(0).object();
    assert_eq!(again["runs"][0]["digest"], emulated["runs"][0]["digest"]);
    assert_eq!(again["runs"][0]["flows"][0]["goodput"], emulated["runs"][0]["flows"][0]["goodput"]);
    bench.contend(&["run", "--replay", "results/two"]).with(2);
    let replay = ["run", "--replay", "results/one", "--no-results"];
    bench.contend(&replay).with(0).says(&["the same digests as in results/one/summary.json"]);
    let path = bench.path("results/one/entries/1.bin");
    let sound = std::fs::read(&path).unwrap();
    std::fs::write(&path, &sound[..sound.len() / 2]).unwrap();
    bench.contend(&replay).with(2).says(&["the recording is cut off", "emulate again"]);
    std::fs::write(&path, sound).unwrap();
    let summary = bench.path("results/one/summary.json");
    let digest = kept["runs"][0]["digest"].as_str().unwrap();
    let other = std::fs::read_to_string(&summary).unwrap().replace(digest, "0123456789abcdef");
    std::fs::write(&summary, other).unwrap();
    bench.contend(&replay).with(1).says(&[digest, "0123456789abcdef", "not the same run"]);
}

#[test]
fn a_program_reaches_the_server_by_name_and_is_ordinary() {
    if skipped() || super::needs::without(&["getent"], "contend emulate: names of hosts") {
        return;
    }
    let bench = Bench::with("one.toml", ONE);
    // The policy of the shell itself, field 41 of its stat: 0 is SCHED_OTHER. The name comes from /etc/hosts.
    let words = "read -r line < /proc/self/stat; set -- ${line##*) }; echo policy ${39}; getent hosts server";
    let ended = bench.contend(&["emulate", "one.toml", "--no-results", "--quiet", "--", "sh", "-c", words]);
    assert!(ended.out.starts_with("policy 0\n10.77.0.2 "), "{} {}", ended.out, ended.err);
    let ends = |words: &str| {
        bench.contend(&["emulate", "one.toml", "--no-results", "--quiet", "--", "sh", "-c", words]).status
    };
    assert_eq!([ends("exit 7"), ends("kill -TERM $$")], [Some(7), Some(128 + 15)]);
}

#[test]
fn programs_have_the_congestion_control_of_the_file_in_both_directions() {
    if skipped() || super::needs::without(&["python3"], "contend emulate: congestion control of programs") {
        return;
    }
    let bench = Bench::with("one.toml", ONE);
    for (host, other) in [("sta0", "server"), ("server", "sta0")] {
        // The kernel chooses when the connection begins to open; nobody need answer.
        let words = format!(
            "import socket; s = socket.socket(); s.setblocking(False); s.connect_ex(('{other}', 9)); \
            print(s.getsockopt(6, 13, 16).split(b'\\0')[0].decode())"
        );
        let call = ["emulate", "one.toml", "--no-results", "--quiet", "--in", host, "--", "python3", "-c", &words];
        let ended = bench.contend(&call);
        assert!(ended.out.starts_with("reno\n"), "{host}: {} {}", ended.out, ended.err);
    }
}

#[test]
fn a_host_hands_packets_to_its_wire_no_faster_than_the_wire_carries_them() {
    if skipped() || super::needs::without(&["python3"], "contend emulate: the pace of wires") {
        return;
    }
    let bench = Bench::with("one.toml", &format!("{ONE}[wire]\nrate = \"10Mbps\"\n"));
    // A thousand packets take 1.2 s; the socket holds a tenth of them.
    let words = "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); t = time.monotonic(); \
        [s.sendto(bytes(1472), ('sta0', 9)) for _ in range(1000)]; print(time.monotonic() - t)";
    let call = ["emulate", "one.toml", "--no-results", "--quiet", "--in", "server", "--", "python3", "-c", words];
    let ended = bench.contend(&call);
    let took: f64 = ended.out.trim().parse().unwrap_or_else(|_| panic!("{} {}", ended.out, ended.err));
    assert!(took > 0.8, "{took} s");
}

/// The files of `experiments/referee/` in a short form. A run that was not true to time says nothing, and is named.
///
/// Flows on wires of their own differ by the kernel only. In a cell the air's chance is in the quotient too: with both
/// flows simulated, 200 seeds of 8 s give 0.998 with a standard deviation of 0.026, four of which are the range.
#[test]
fn the_kernel_and_the_simulator_agree() {
    if skipped() {
        return;
    }
    let bench = Bench::new();
    let deployed: &[&str] = if cfg!(feature = "bpf") { &["tcp-d", "tcp-av", "jersey", "westwood"] } else { &[] };
    let l4s: &[&str] = if has_accurate_ecn(&bench) { &["prague"] } else { &[] };
    let wires = [&["reno", "cubic"], deployed, l4s].concat().into_iter().map(|name| (name, 0.05));
    for (name, range) in wires.chain([("cell-g", 0.1)]) {
        let file = super::workspace().join(format!("experiments/referee/{name}.toml"));
        let call = ["emulate", file.to_str().unwrap(), "--set", "duration=8s", "--no-results", "--format", "json"];
        let o = bench.contend(&call).object();
        let late = o["runs"][0]["emulation"]["late"].as_str().unwrap();
        if !late.is_empty() {
            super::needs::skip(&format!("the machine was too busy: {late}"), &format!("the kernel beside {name}.toml"));
            continue;
        }
        let measured = o["claims"][0]["measured"].as_f64().unwrap();
        assert!((measured - 1.0).abs() < range, "{name}: {measured} of the simulated goodput");
    }
}

/// True if contend can load `prague` here.
fn has_accurate_ecn(bench: &Bench) -> bool {
    if !cfg!(feature = "bpf") {
        return false;
    }
    let doctor = bench.contend(&["doctor", "--format", "json"]).object();
    let checks = doctor["checks"].as_array().unwrap();
    let has = checks.iter().any(|c| c["what"] == "deploy: accurate ECN" && c["ok"] == true);
    if !has {
        super::needs::skip("the kernel has no accurate ECN", "contend emulate with prague");
    }
    has
}

/// What a program opens is L4S as the file's flow: both its sockets have `prague`, and its data carry ECT(1).
#[test]
fn the_kernel_and_the_simulator_mark_what_programs_send_for_l4s() {
    let queue = "queue = { kind = \"fq_codel\", ce_threshold = \"1ms\", ce_select = \"ect1\" }\n";
    let file = ONE
        .replace("tcp = \"newreno\"\nack = 2\n", "tcp = \"prague\"\n")
        .replace("window = \"42p\"\n", "")
        .replace("[[flow]]", &format!("{queue}[[flow]]"));
    let program = "[[program]]\nin = \"server\"\nrun = \"exec python3 -c 'import socket; \
        c = socket.create_server((str(), 5201)).accept()[0]; all(iter(lambda: c.recv(65536), bytes()))'\"\n";
    let bench = Bench::with("one.toml", &format!("{file}{program}"));
    if skipped() || super::needs::without(&["python3"], "contend emulate with prague") || !has_accurate_ecn(&bench) {
        return;
    }
    let words = "import socket, time; time.sleep(0.5); s = socket.create_connection(('server', 5201)); \
        [s.send(bytes(60000)) for _ in range(50)]";
    let call = ["emulate", "one.toml", "--no-results", "--format", "json", "--", "python3", "-c", words];
    let ended = bench.contend(&call);
    let o: Value = serde_json::from_str(&ended.out).unwrap_or_else(|e| panic!("{e}: {} {}", ended.out, ended.err));
    let of = |what: &str| -> u64 {
        o["runs"][0]["queues"].as_array().unwrap().iter().map(|queue| queue[what].as_u64().unwrap()).sum()
    };
    assert!(of("marked_l4s") > 0 && of("marked_classic") == 0, "{} {}", of("marked_l4s"), of("marked_classic"));
}

/// Arai et al. 2008, E1: bursts from the wire into the access point's queue, which is full at 120 packets.
#[test]
fn the_tool_reads_the_queue_of_the_emulated_access_point() {
    if skipped() {
        return;
    }
    let tool = format!("{} tool ap-buffer", env!("CARGO_BIN_EXE_contend"));
    let flow = ONE
        .replace("4s", "20s")
        .replace("\"station\"\nto = \"server\"", "\"server\"\nto = \"station\"")
        .replace("\"up\"", "\"page\"")
        .replace("delay = \"10ms\"\n", "");
    let text = format!(
        "{flow}[ap]\nqueue = {{ kind = \"fifo\", limit = \"120p\" }}\n[wire]\nrate = \"100Mbps\"\ndelay = \"1ms\"\n\
         [[program]]\nin = \"server\"\nrun = \"sleep 1; exec {tool} send sta0:7001 --trials 3 --packets 1500\"\n"
    );
    let bench = Bench::with("f.toml", &text);
    let receive = format!("{tool} receive --listen 0.0.0.0:7001 --trials 3 --format json");
    let call = [&["emulate", "f.toml", "--no-results", "--"][..], &receive.split(' ').collect::<Vec<_>>()].concat();
    let out = bench.contend(&call);
    let (_, object) = out.out.split_once('{').unwrap_or_else(|| panic!("{} {}", out.out, out.err));
    let object = format!("{{{object}");
    let o: Value = serde_json::Deserializer::from_str(&object).into_iter().next().unwrap().unwrap();
    let of = |what: &str, which: &str| o[what][which].as_f64().unwrap_or_else(|| panic!("{o}"));
    // The queue takes the first 120 of a burst, whatever the speed, and the correction never adds any.
    assert!(of("naive", "min") >= 120.0 && of("packets", "max") <= of("naive", "max"), "{o}");
    assert!((100.0..180.0).contains(&of("packets", "median")), "{o}");
}

#[test]
fn reproduce_emulates_what_is_in_the_folder_emulated_and_nothing_else() {
    let bench = Bench::new();
    let claim = "[[claim]]\nid = \"c\"\npaper = \"p\"\nmetric = \"goodput.up\"\nexpect = { at_least = \"10kbps\" }\n";
    let text = format!("{}\n{claim}", ONE.replace("4s", "2s"));
    bench.file("papers/doe/emulated/real.toml", &text);
    bench.file("papers/doe/simulated.toml", &text);
    let names = |options: &[&str]| -> Vec<String> {
        let call = [&["reproduce", "--no-results", "--seeds", "1"], options].concat();
        let out = bench.contend(&call).out;
        let name = |line: &str| Some(line.strip_prefix("doe/")?.split_once(':')?.0.to_owned());
        out.lines().filter_map(name).collect()
    };
    assert_eq!(names(&[]), ["simulated"]);
    if !skipped() {
        assert_eq!(names(&["--emulated"]), ["emulated/real"]);
    }
}

#[test]
fn flows_send_beside_a_program_if_they_are_to() {
    if skipped() {
        return;
    }
    let bench = Bench::with("one.toml", ONE);
    let delivered = |options: &[&str]| {
        let call = [&["emulate", "one.toml", "--format", "json"], options, &["--", "sleep", "1.5"]].concat();
        let o = bench.contend(&call).object();
        o["runs"][0]["flows"][0]["goodput"].as_f64().unwrap()
    };
    assert_eq!(delivered(&[]), 0.0);
    assert!(delivered(&["--with-flows"]) > 1e5);
}

#[test]
fn after_an_interrupt_what_was_measured_is_kept() {
    if skipped() {
        return;
    }
    let bench = Bench::with("one.toml", &ONE.replace("4s", "60s"));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("contend"))
        .args(["emulate", "one.toml", "--quiet"])
        .current_dir(bench.path(""))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(5));
    super::signal("-INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let kept = bench.json("results/one/summary.json");
    let lasted = kept["runs"][0]["duration"].as_f64().unwrap();
    assert!((1.0..59.0).contains(&lasted), "{lasted}");
}

/// Emulates `text` for a moment, and returns its first run.
fn emulated(text: &str, options: &[&str]) -> (Bench, Value) {
    let bench = Bench::with("one.toml", text);
    let ended = bench.contend(&[&["emulate", "one.toml", "--format", "json"], options].concat());
    assert!(matches!(ended.status, Some(0 | 1)), "{}", ended.err);
    let run = ended.object()["runs"][0].clone();
    let e = &run["emulation"];
    assert_eq!((e["overwritten"].as_u64(), e["refused"].as_object().unwrap().len()), (Some(0), 0), "{e}");
    (bench, run)
}

#[test]
fn a_field_carries_real_tcp_over_two_hops() {
    if skipped() {
        return;
    }
    let (bench, run) = emulated(FIELD, &[]);
    let far = run["flows"][0]["goodput"].as_f64().unwrap();
    assert!((1e4..5.5e6).contains(&far), "{far}");
    let again = bench.contend(&["run", "--replay", "results/one", "--no-results", "--format", "json"]).with(0).object();
    assert_eq!(again["runs"][0]["digest"], run["digest"]);
}

#[test]
fn aggregates_carry_datagrams_and_a_file_and_the_air_is_captured() {
    if skipped() {
        return;
    }
    let (bench, run) = emulated(MODERN, &["--capture", "1s..1.2s"]);
    let of = |i: usize| run["flows"][i]["goodput"].as_f64().unwrap();
    // The call is paced by the real clock: whatever the load, no more than its rate arrives, with a burst of 64 kB.
    assert!((1e5..1.3e6).contains(&of(0)) && (1e5..3.5e7).contains(&of(1)), "{} {}", of(0), of(1));
    assert!(std::fs::metadata(bench.path("results/one/air.pcapng")).unwrap().len() > 1000);
    let again = bench.contend(&["run", "--replay", "results/one", "--no-results", "--format", "json"]).with(0).object();
    assert_eq!(again["runs"][0]["digest"], run["digest"]);
}

#[test]
fn a_series_has_the_windows_of_the_kernel_s_sender() {
    if skipped() {
        return;
    }
    let (bench, _) = emulated(ONE, &["--set", "sample=100ms", "--show", "cwnd[up]"]);
    let shown = bench.json("results/one/summary.json")["runs"][0]["metrics"]["cwnd[up]"].clone();
    // The window of the receiver stops growth some time after 42 segments; the kernel begins with 10 or 2.
    assert!((2.0..1e4).contains(&shown.as_f64().unwrap()), "{shown}");
}

#[test]
fn programs_of_every_kind_pass_and_the_table_tells_what_they_opened() {
    let programs = ["ping", "python3", "curl", "getent"];
    if skipped() || super::needs::without(&programs, "contend emulate: programs of every kind") {
        return;
    }
    let program = "\n[[program]]\nin = \"server\"\nrun = \"exec python3 -m http.server 80\"\n";
    let bench = Bench::with("one.toml", &format!("{ONE}{program}"));
    bench.file(
        "all.sh",
        "ping -c 2 -i 0.2 server | grep -c 'bytes from'\n\
            python3 -c 'import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b\"x\" * 1000, (\"server\", 9))'\n\
            curl -s --retry 60 --retry-delay 1 --retry-connrefused http://server/all.sh\n",
    );
    let call = ["emulate", "one.toml", "--no-results", "--in", "sta0", "--", "sh", "all.sh"];
    let ended = bench.contend(&call);
    assert!(ended.out.starts_with("2\nping -c 2"), "{} {}", ended.out, ended.err);
    let row = |what: &str| ended.out.lines().any(|l| l.contains(what));
    for what in ["icmp up.sta -> up.server", "udp up.sta -> up.server:9", "tcp up.sta -> up.server:80"] {
        assert!(row(what), "{what}: {}", ended.out);
    }
    // A shell gets what is typed.
    let words = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("contend"))
        .args(["emulate", "one.toml", "--no-results", "--quiet", "--shell", "sta0"])
        .env("SHELL", "/bin/sh")
        .current_dir(bench.path(""))
        .write_stdin("getent hosts up.server; exit 0\n")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&words.stdout).starts_with("10.77.0.2 "), "{words:?}");
}

#[test]
fn a_program_that_is_missing_is_refused_and_one_that_fails_is_named() {
    let program = |run: &str| format!("{ONE}\n[[program]]\nin = \"server\"\nrun = {run:?}\n");
    let bench = Bench::with("one.toml", &program("no-such-program --now"));
    bench.contend(&["emulate", "one.toml"]).with(2).says(&["no program no-such-program", "install it"]);
    bench.file("one.toml", ONE);
    let call = ["emulate", "one.toml", "--", "no-such-program"];
    bench.contend(&call).with(127).says(&["no program no-such-program", "install it"]);
    assert!(!bench.path("results").exists());
    if skipped() {
        return;
    }
    bench.file("one.toml", program("exit 3"));
    let call = ["emulate", "one.toml", "--no-results", "--", "sleep", "0.5"];
    bench.contend(&call).with(1).says(&["[[program]] 1 failed with status 3: exit 3"]);
    // A program that the end of the run ends has not failed.
    bench.file("one.toml", program("sleep 1000"));
    let ended = bench.contend(&call);
    assert!(!ended.err.contains("failed with status"), "{}", ended.err);
}

/// Starts a run with a program that is easy to find, ends it by `signal`, and returns how many of these programs are
/// left soon after.
fn left_after(signal: &str, seconds: &str) -> usize {
    let bench = Bench::with("one.toml", ONE);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("contend"))
        .args(["emulate", "one.toml", "--no-results", "--", "sleep", seconds])
        .current_dir(bench.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let running = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let line = |e: std::fs::DirEntry| std::fs::read(e.path().join("cmdline")).ok();
        let wanted = format!("sleep\0{seconds}\0");
        all.filter_map(line).filter(|line| line == wanted.as_bytes()).count()
    };
    let wait_for = |many: usize| {
        (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            running() == many
        })
    };
    assert!(wait_for(1), "the program did not start");
    super::signal(signal, child.id());
    wait_for(0);
    let left = running();
    if left > 0 {
        child.kill().unwrap();
    }
    child.wait().unwrap();
    left
}

#[test]
fn after_kill_9_no_program_is_left() {
    if skipped() {
        return;
    }
    assert_eq!(left_after("-KILL", "54321.25"), 0);
}

#[test]
fn after_an_interrupt_no_program_is_left() {
    if skipped() {
        return;
    }
    assert_eq!(left_after("-INT", "54321.75"), 0);
}
