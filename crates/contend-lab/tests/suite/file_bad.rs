//! Bad files: each gives one message that names the file, the line, the key and the remedy.

use contend_lab::reading::file::parse;

/// A good file; cases change a line of it or add to it.
const GOOD: &str = r#"title = "t"
duration = "70s"
warmup = "10s"

[wifi]
standard = "802.11g"

[[station]]
name = "slow"
count = 3

[[flow]]
count = 2
from = "server"
to = "station"
tcp = "newreno"

[sweep]
"flow.0.count" = [1, 2]
"#;

/// The message for `GOOD` with `from` replaced by `to`.
fn message(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    match parse("t.toml", &GOOD.replacen(from, to, 1), &[]) {
        Ok(_) => "(no error)\n".into(),
        Err(e) => e.render(false),
    }
}

#[test]
fn the_good_file_is_good() {
    assert_eq!(message("title", "title"), "(no error)\n");
}

#[test]
fn an_error_in_an_expression_marks_the_wrong_word() {
    let wrong = "delay = \"= 10ms + 2ms*(j-1)\"";
    assert_eq!(
        message("from = \"server\"", &format!("{wrong}\nfrom = \"server\"")),
        "t.toml:14:24: `flow.0.delay` cannot be computed: there is no `j`\n  help: allowed names: k, n\n"
    );
    let claim = |metric: &str| {
        let text = format!("{GOOD}[[claim]]\nid = \"a\"\nmetric = {metric}\nexpect = {{ at_least = 1 }}\n");
        let e = parse("t.toml", &text, &[]).unwrap();
        contend_lab::judging::claim::validate(&e).map_or_else(|e| e.render(true), |_| "(no error)".into())
    };
    let drawn = claim("\"point(\\\"flow.0.count\\\") * godput.down\"");
    let lines: Vec<&str> = drawn.lines().collect();
    let at = lines.iter().position(|l| l.contains("godput.down")).map(|i| i + 1);
    let (source, marks) = at.and_then(|i| lines.get(i..=i + 1)).map(|l| (l[0], l[1])).unwrap();
    let column = |line: &str, what: &str| line.find(what).map(|i| line[..i].chars().count());
    assert_eq!(column(marks, "─"), column(source, "godput"), "{drawn}");
    let set = |value: &str| parse("t.toml", GOOD, &[("flow.0.delay".into(), value.into())]).unwrap_err().render(false);
    assert!(set("= 10ms + xyz").starts_with("--set:1:23: `flow.0.delay` cannot be computed: there is no `xyz`"));
}

#[test]
fn wrong_seeds_of_the_command_line_are_shown_at_their_option() {
    let seeds = |value: &str| parse("t.toml", GOOD, &[("seeds".into(), value.into())]).unwrap_err().render(false);
    assert!(seeds("5..1").starts_with("--seeds:1:1: `seeds` is empty"), "{}", seeds("5..1"));
}

/// What is replaced, by what, and what the message then is.
const CASES: &[(&str, &str, &str)] = &[
    (
        "count = 2",
        "cuont = 2",
        "t.toml:13:1: there is no key `flow.0.cuont`\
            \n  help: did you mean `count`? Write one of: name, count, from, to, delay, udp, packet, tcp, window, \
            ack, ack_delay, encrypted, estimate, traffic, emulate, ac, overhead, start, stop, size",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nslto = \"9us\"",
        "t.toml:7:1: there is no key `wifi.slto`\
            \n  help: did you mean `slot`? Write one of: standard, preamble, band, durations, slot, sifs, difs, eifs, \
            ack_timeout, signal_extension, llc, cwmin, cwmax, basic, protection, protection_rate, retry_short, \
            retry_long, rts_threshold, busy_slot, idle_access, after_collision, rate, width, streams, mcs, guard, fec, \
            packet_padding, extended_range, ampdu, amsdu, mac_queue, queue, loss, access, rate_control, snr, fading, \
            error_model",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11z\"",
        "t.toml:6:12: `wifi.standard` cannot be \"802.11z\"\
            \n  help: did you mean `802.11`? Write one of: 802.11, 802.11b, 802.11a, 802.11g, 802.11n, \
            802.11ac, 802.11ax, 802.11be",
    ),
    (
        "[wifi]",
        "[wfi]",
        "t.toml:5:2: there is no key `wfi`\
            \n  help: did you mean `wifi`? Write one of: wifi, ap, station, flow, wire, link, node, param, \
            contention, model, field, title, cite, notes, duration, warmup, seeds, decide, sample, show, sweep, claim, \
            check, figure, program, search",
    ),
    (
        "title = \"t\"",
        "titel = \"t\"",
        "t.toml:1:1: there is no key `titel`\
            \n  help: did you mean `title`? Write one of: wifi, ap, station, flow, wire, link, node, param, \
            contention, model, field, title, cite, notes, duration, warmup, seeds, decide, sample, show, sweep, claim, \
            check, figure, program, search",
    ),
    (
        "duration = \"70s\"",
        "duration = 70",
        "t.toml:2:12: `duration` has no unit: 70\n  help: write a duration like \"15ms\" (units: s, ms, us, \
            ns)",
    ),
    (
        "duration = \"70s\"",
        "duration = \"70\"",
        "t.toml:2:12: `duration` has no unit: 70\n  help: write a duration like \"15ms\" (units: s, ms, us, \
            ns)",
    ),
    (
        "duration = \"70s\"",
        "duration = \"70 sec\"",
        "t.toml:2:12: `duration` has an unknown unit: `sec`\
            \n  help: write a duration like \"15ms\" (units: s, ms, us, ns); did you mean `s`?",
    ),
    (
        "duration = \"70s\"",
        "duration = \"70kB\"",
        "t.toml:2:12: `duration` must be a duration, but 70000B is a number of bytes\n  help: write a duration like \
            \"15ms\" (units: s, ms, us, ns)",
    ),
    (
        "duration = \"70s\"",
        "duration = \"-70s\"",
        "t.toml:2:12: `duration` is negative: -70s\n  help: write a duration like \"15ms\" (units: s, ms, us, ns)",
    ),
    (
        "duration = \"70s\"",
        "duration = \"2e6s\"",
        "t.toml:2:12: `duration` is too large: 2000000s\n  help: write at most 1000000s",
    ),
    (
        "duration = \"70s\"",
        "duration = \"0s\"",
        "t.toml:2:12: `duration` is zero\n  help: write a duration of at least 1ns",
    ),
    ("duration = \"70s\"", "", "t.toml: the file needs `duration`\n  help: write duration = \"70s\""),
    (
        "duration = \"70s\"",
        "duration = 1979-05-27",
        "t.toml:2:12: an experiment cannot use a date\n  help: write a string or a number",
    ),
    (
        "duration = \"70s\"",
        "duration =",
        "t.toml:2:11: this is not TOML: string values must be quoted, expected literal string\
            \n  help: write strings in double quotes and tables in [brackets]; see https://toml.io",
    ),
    (
        "duration = \"70s\"",
        "duration = \"70s",
        "t.toml:2:16: this is not TOML: invalid basic string, expected `\"`\
            \n  help: write strings in double quotes and tables in [brackets]; see https://toml.io",
    ),
    (
        "duration = \"70s\"",
        "duration = \"= 10s*m\"",
        "t.toml:2:19: `duration` cannot be computed: there is no `m`\
            \n  help: an expression may use numbers with units, + - * / \
            min max floor, and names from [param]",
    ),
    (
        "warmup = \"10s\"",
        "warmup = \"70s\"",
        "t.toml:3:10: `warmup` is 70s, but the whole run is 70s: nothing is left to measure\n  help: write a shorter \
            warmup or a longer duration",
    ),
    (
        "warmup = \"10s\"",
        "warmup = \"10s\"\nseeds = 5",
        "t.toml:4:9: `seeds` must be a string, not a bare number\n  help: write \"1..5\" for the seeds 1, 2, 3, 4 and \
            5, \"7\" for one, or a list",
    ),
    (
        "warmup = \"10s\"",
        "warmup = \"10s\"\nseeds = \"5..1\"",
        "t.toml:4:9: `seeds` is empty: \"5..1\"\n  help: write \"1..5\" for the seeds 1, 2, 3, 4 and 5, \"7\" for \
            one, or a list",
    ),
    (
        "warmup = \"10s\"",
        "warmup = \"10s\"\nseeds = \"1..999999999\"",
        "t.toml:4:9: `seeds` has more than 100000 seeds\n  help: use fewer",
    ),
    (
        "warmup = \"10s\"",
        "warmup = \"10s\"\nsample = \"1ns\"",
        "t.toml:4:10: `sample` makes more than 10000000 samples of a run\n  help: write a longer step",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nrate = \"11mbps\"",
        "t.toml:7:8: `wifi.rate` has an unknown unit: `mbps`\
            \n  help: write a rate like \"54Mbps\" (units: bps, kbps, Mbps, Gbps); did you mean `Mbps`?",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nrate = \"54Mb\"",
        "t.toml:7:8: `wifi.rate` has an unknown unit: `Mb`\
            \n  help: write a rate like \"54Mbps\" (units: bps, kbps, Mbps, Gbps); did you mean `Mbps`?",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nwindow = \"64Kb\"",
        "t.toml:17:10: `flow.0.window` has an unknown unit: `Kb`\
            \n  help: write an amount of packets or bytes like \"100p\" or \"150kB\" (units: p, B, kB, MB); did you \
            mean `kB`?",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nrate = \"10Mbps\"",
        "t.toml:7:8: `wifi.rate` is not a rate of this standard\n  help: rates: 1Mbps, 2Mbps, 5.5Mbps, 6Mbps, 9Mbps, \
            11Mbps, 12Mbps, 18Mbps, 24Mbps, 36Mbps, 48Mbps, 54Mbps",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nrate = [\"54Mbps\", \"6Mbps\"]",
        "t.toml:7:8: `wifi.rate` takes one value, not a list\n  help: a list gives one value to each member of a \
            [[flow]] or [[station]]; to try several, put the list under [sweep]",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\ncwmin = 31\ncwmax = 15",
        "t.toml:7:9: `wifi.cwmin` makes cwmin 31 larger than cwmax 15\n  help: write a smaller cwmin or a larger cwmax",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11b\"\nprotection = \"rts-cts\"",
        "t.toml:7:14: `wifi.protection` is for 802.11g and later standards, beside older stations\n  \
            help: remove it, or write standard = \"802.11g\"",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nprotection = \"rts-cts\"\nrts_threshold = \"500B\"",
        "t.toml:8:17: `wifi.rts_threshold` has no meaning with protection = \"rts-cts\", which sends an RTS before \
            every frame\n  help: remove one of the two",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nslot = { us = 9 }",
        "t.toml:7:8: `wifi.slot` must be a duration, not a table\n  help: write a duration like \"15ms\" (units: s, \
            ms, us, ns)",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\naccess = \"dfc\"",
        "t.toml:7:10: `wifi.access` names an unknown access rule: \"dfc\"\
            \n  help: did you mean `dcf`? Write one of: dcf, edca, dcf_m, idle_sense, hash, hash1, pdf, \
            residual_window, tcf, dfs, permutation, classes",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nac = \"voice\"",
        "t.toml:17:6: `flow.0.ac` cannot be \"voice\"\n  help: write one of: vo, vi, be, bk",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\naccess = { kind = \"edca\", vo = { cwmim = 3 } }",
        "t.toml:7:34: there is no key `wifi.access.vo.cwmim`\
            \n  help: did you mean `cwmin`? Write one of: aifsn, cwmin, cwmax, txop",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\naccess = { kind = \"edca\", bk = { aifsn = 16 } }",
        "t.toml:7:42: `wifi.access.bk.aifsn` is out of range: 16\n  help: write a value from 1 to 15",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\naccess = { kind = \"edca\", vi = { cwmin = 31 } }",
        "t.toml:7:10: `wifi.access` cannot use edca: vi: cwmin = 31 is larger than cwmax = 15\
            \n  help: write a smaller cwmin or a larger cwmax",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\naccess = { kind = \"dcf\", cwmin = 2000, cwmax = 10 }",
        "t.toml:7:10: `wifi.access` cannot use dcf: cwmin = 2000 is larger than cwmax = 10\
            \n  help: write a smaller cwmin",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nloss = { kind = \"bernoulli\" }",
        "t.toml:7:8: `wifi.loss` needs `p` for bernoulli: probability that a packet is lost\n  help: write { kind = \
            \"bernoulli\", p = \"1%\" }",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nloss = { kind = \"bernoulli\", p = \"120%\" }",
        "t.toml:7:34: `wifi.loss.p` is out of range: 1.2\n  help: write a value from 0 to 1",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nloss = { kind = \"bernoulli\", q = \"1%\" }",
        "t.toml:7:30: there is no key `wifi.loss.q`\n  help: did you mean `p`? Write one of: kind, p, on",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nloss = { kind = \"script\", drop = [{ flow = \"upp\", segment = 3 }] }",
        "t.toml:7:8: `wifi.loss` cannot use script: drop names flow \"upp\", which is not in the file\
            \n  help: write the name of a [[flow]]",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"fifo\", limit = \"100\" }\n[[station]]",
        "t.toml:9:34: `ap.queue.limit` has no unit: 100\n  help: write an amount of packets or bytes like \
            \"100p\" or \"150kB\" (units: p, B, kB, MB)",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"fifo\", limit = 100 }\n[[station]]",
        "t.toml:9:34: `ap.queue.limit` has no unit: 100\n  help: write an amount of packets or bytes like \
            \"100p\" or \"150kB\" (units: p, B, kB, MB)",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"fifo\", limit = \"0p\" }\n[[station]]",
        "t.toml:9:34: `ap.queue.limit` is out of range: 0p\n  help: write a value from 1p to 1000000000p",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"fifo\", limt = \"100p\" }\n[[station]]",
        "t.toml:9:26: there is no key `ap.queue.limt`\n  help: did you mean `limit`? Write one of: kind, limit",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { limit = \"100p\" }\n[[station]]",
        "t.toml:9:9: `ap.queue` needs `kind`\n  help: write kind = \"fifo\"",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = \"fcwa\"\n[[station]]",
        "t.toml:9:9: `ap.queue` names an unknown queue discipline: \"fcwa\"\
            \n  help: `fcwa` is a control block: write control = { kind = \"fcwa\" }, or a list of them, in [ap]",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = \"hfsc\"\n[[station]]",
        "t.toml:9:9: `ap.queue` names an unknown queue discipline: \"hfsc\"\
            \n  help: write one of: fifo, ack_filter, airtime, avq, codel, cwaq, cwpq, directions, elf, fq_codel, \
            pi, pie, rcp, rcp_winf, red, rem, vcrr, vfq, vqr, vrc, wcp, wf2q, xcp, xcp_b, xcp_winf",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"red\", min_th = \"20p\" }\n[[station]]",
        "t.toml:9:9: `ap.queue` cannot use red: min_th is above max_th\
            \n  help: write a smaller min_th (max_th at least twice as large is usual)",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = \"lifo\"\n[[station]]",
        "t.toml:9:9: `ap.queue` names an unknown queue discipline: \"lifo\"\
            \n  help: did you mean `fifo`? Write one of: fifo, ack_filter, airtime, avq, codel, cwaq, cwpq, \
            directions, elf, fq_codel, pi, pie, rcp, rcp_winf, red, rem, vcrr, vfq, vqr, vrc, wcp, wf2q, xcp, \
            xcp_b, xcp_winf",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"wf2q\", weights = [[\"slow.1\", 2], [\"slow1\", 3]] }\n[[station]]",
        "t.toml:9:53: `ap.queue.weights.1.0` names an unknown station: \"slow1\"\
            \n  help: did you mean `slow.1`? Write one of: down.1.sta, slow.1, slow.2, slow.3",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"vfq\", weights = [[\"slow.1\", 0]] }\n[[station]]",
        "t.toml:9:35: `ap.queue.weights` is out of range: 0\n  help: write a value from 0.000001 to 1000000",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"airtime\", weights = [[\"slow.1\", 2], [\"slow.1\", 3]] }\n[[station]]",
        "t.toml:9:9: `ap.queue` cannot use airtime: weights: \"slow.1\" is listed twice\n  help: remove one",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"elf\", class_limit = \"100B\" }\n[[station]]",
        "t.toml:9:9: `ap.queue` cannot use elf: class_limit: 100 bytes have no room for one packet of 1500 bytes\
            \n  help: write packets, like \"10p\", or more bytes",
    ),
    (
        "[[station]]",
        "[[station]]\nqueue = { kind = \"wf2q\", weights = [[\"slow.1\", 2]] }",
        "t.toml:9:9: `station.0.queue` cannot use wf2q: weights: station \"slow.1\" cannot be reached from this \
            queue\n  help: only [ap] queue can give weights to the stations of its cell",
    ),
    (
        "[[station]]",
        "[ap]\ncontrol = \"fwca\"\n[[station]]",
        "t.toml:9:11: `ap.control` names an unknown control block: \"fwca\"\
            \n  help: did you mean `fcwa`? Write one of: accf, ack_thinning, fcwa, pilosof, rate_limiter",
    ),
    (
        "[[station]]",
        "[[station]]\nname = \"slow\"\n[[station]]",
        "t.toml:11:8: `station.1.name` is used twice: \"slow\"\n  help: give each access point, station, node and link \
         its own name",
    ),
    (
        "[[station]]",
        "[station]",
        "t.toml:8:1: `station` must be a list, not a table\n  help: write [[station]], with two brackets",
    ),
    (
        "name = \"slow\"",
        "name = \"s l\"",
        "t.toml:9:8: `station.0.name` cannot be \"s l\"\n  help: a name has up to 64 letters, digits, - and _, and \
            begins with a letter",
    ),
    (
        "name = \"slow\"",
        "name = \"ap\"",
        "t.toml:9:8: `station.0.name` cannot be \"ap\", which is a word of the file\n  help: choose another name",
    ),
    (
        "count = 3",
        "count = 200000",
        "t.toml:10:9: `station.0.count` is too large: 200000\n  help: write a value from 0 to 100000",
    ),
    (
        "count = 3",
        "count = 1.5",
        "t.toml:10:9: `station.0.count` is not a whole number: 1.5\n  help: round it, in an expression with floor(...)",
    ),
    ("count = 3", "count = -1", "t.toml:10:9: `station.0.count` is negative: -1\n  help: write 0 or more"),
    (
        "count = 3",
        "count = \"= 3*k\"",
        "t.toml:10:14: `station.0.count` cannot be computed: there is no `k`\
            \n  help: an expression may use numbers with units, + \
            - * / min max floor, and names from [param]",
    ),
    (
        "to = \"station\"",
        "to = \"sta\"",
        "t.toml:15:6: `flow.0.to` names an unknown station or node: \"sta\"\
            \n  help: write one of: server, station, ap, slow",
    ),
    (
        "to = \"station\"",
        "to = \"slwo\"",
        "t.toml:15:6: `flow.0.to` names an unknown station or node: \"slwo\"\
            \n  help: did you mean `slow`? Write one of: server, station, ap, slow",
    ),
    (
        "to = \"station\"",
        "to = \"slow[2..4]\"",
        "t.toml:15:6: `flow.0.to` names stations that do not exist: \"slow[2..4]\"\n  help: `slow` has members 1 to \
            3: write \"slow[1..3]\"",
    ),
    (
        "to = \"station\"",
        "to = \"server\"",
        "t.toml:15:6: `flow.0.to` is also the start of the flow\n  help: name two different places",
    ),
    (
        "to = \"station\"",
        "to = \"ap\"",
        "t.toml:15:6: `flow.0.to` is an access point: a flow cannot end there\
            \n  help: write \"server\" for a host behind \
            it, or \"station\"",
    ),
    (
        "to = \"station\"",
        "to = 3",
        "t.toml:15:6: `flow.0.to` must be a string, not a bare number\n  help: write it in double quotes",
    ),
    ("to = \"station\"", "", "t.toml:12:1: `flow.0` needs `to`\n  help: write to = \"station\" or \"server\""),
    (
        "tcp = \"newreno\"",
        "",
        "t.toml:12:1: `flow.0` has no transport protocol\n  help: write tcp = \"newreno\" or udp = { rate = \
            \"1Mbps\" }",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newrno\"",
        "t.toml:16:7: `flow.0.tcp` names an unknown TCP variant: \"newrno\"\
            \n  help: did you mean `newreno`? Write one of: tahoe, reno, newreno, sack, cubic, westwood, \
            westwood-nr, westwood+, aiad-kappa, aiad-phi, jersey, jersey-orig, jersey-enh, vegas, tcp_d, tcp_av, \
            dctcp, bbr, bbr3, xcp, xcp_winf, rcp, rcp_winf, wcp, tcp-ap-winf, we-tcp-ap, veno, aiad, perfect, \
            tcp_ap, hop_limit",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { cc = \"reno\", recovry = \"sack\" }",
        "t.toml:16:22: there is no key `flow.0.tcp.recovry`\
            \n  help: did you mean `recovery`? Write one of: kind, cc, recovery, sack, timestamps, window_scaling, \
            handshake, initial_window, initial_ssthresh, echo, limited_transmit, pacing, tsq, rto",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { recovery = \"sack\", sack = false }",
        "t.toml:16:35: `flow.0.tcp.sack` is false, but the recovery \"sack\" needs it\n  help: write recovery = \
            \"newreno\", or remove sack",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { window_scaling = false }\nwindow = \"100p\"",
        "t.toml:17:10: `flow.0.window` is too large without window scaling: 146000B\n  help: write at most 65535B, or \
            window_scaling = true in tcp",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { rto = { min = \"2s\", max = \"1s\" } }",
        "t.toml:16:15: `flow.0.tcp.rto` has min 2s above max 1s\n  help: write a smaller min or a larger max",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { echo = \"lach\" }",
        "t.toml:16:16: `flow.0.tcp.echo` cannot be \"lach\"\
            \n  help: did you mean `latch`? Write one of: off, latch, per_packet",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nudp = { rate = \"1Mbps\" }",
        "t.toml:17:7: `flow.0.udp` cannot be used with tcp: a flow uses one of the two\n  help: remove one of the two",
    ),
    (
        "tcp = \"newreno\"",
        "udp = { rate = \"1Mbps\" }\ntraffic = \"bulk\"",
        "t.toml:16:16: `flow.0.udp.rate` contradicts the flow's traffic\n  help: remove one of the two",
    ),
    (
        "tcp = \"newreno\"",
        "udp = { rate = \"1Mbps\" }\nwindow = \"42p\"",
        "t.toml:17:10: `flow.0.window` has no meaning for udp\n  help: remove it, or write tcp instead of udp",
    ),
    (
        "tcp = \"newreno\"",
        "udp = { rate = \"1Mbps\" }\nencrypted = true",
        "t.toml:17:13: `flow.0.encrypted` has no meaning for udp\n  help: remove it, or write tcp instead of udp",
    ),
    (
        "tcp = \"newreno\"",
        "udp = {}",
        "t.toml:16:7: `flow.0.udp` has no rate and no traffic\n  help: write udp = { rate = \"1Mbps\" }, or a \
            traffic source in the flow",
    ),
    (
        "tcp = \"newreno\"",
        "udp = {}\ntraffic = \"bulk\"",
        "t.toml:16:7: `flow.0.udp` cannot carry \"bulk\": a sender of datagrams needs a rate\n  help: write \
            udp = { rate = \"1Mbps\" }, or another traffic source",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nwindow = \"0p\"",
        "t.toml:17:10: `flow.0.window` is zero: nothing could be sent\n  help: write at least \"1p\"",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nwindow = 42",
        "t.toml:17:10: `flow.0.window` has no unit: 42\n  help: write an amount of packets or bytes like \
            \"100p\" or \"150kB\" (units: p, B, kB, MB)",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\npacket = \"9000B\"",
        "t.toml:17:10: `flow.0.packet` is too large for an 802.11 frame: 9000B\n  help: write at most 2296B",
    ),
    (
        "tcp = \"newreno\"",
        "udp = {}\ntraffic = { kind = \"files\", size = \"3p\" }",
        "t.toml:17:11: `flow.0.traffic` writes datagrams of 4444B with their headers: too large for an 802.11 \
            frame\n  help: write at most 2268B of payload, or tcp instead of udp",
    ),
    (
        "tcp = \"newreno\"",
        "udp = {}\ntraffic = { kind = \"poisson\", rate = \"1Mbps\", packet = \"2269B\" }",
        "t.toml:17:11: `flow.0.traffic` writes datagrams of 2297B with their headers: too large for an 802.11 \
            frame\n  help: write at most 2268B of payload, or tcp instead of udp",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\npacket = \"40B\"",
        "t.toml:17:10: `flow.0.packet` is invalid: a packet of 40 B has no room for payload after 40 B of headers\
            \n  help: write at least 41 B",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nstart = \"uniform(2s, 1s)\"",
        "t.toml:17:9: `flow.0.start` begins after it ends\n  help: write the earlier time first",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nstart = \"stager(0s, 1s)\"",
        "t.toml:17:9: `flow.0.start` cannot be \"stager\"\n  help: write \"5s\", \"uniform(0s, 2s)\" (an instant \
            drawn between the two) or \"stagger(0s, 10s)\" (the first member's, and the step to the next)",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nstart = \"uniform(1s)\"",
        "t.toml:17:9: `flow.0.start` takes two times\n  help: write \"5s\", \"uniform(0s, 2s)\" (an instant drawn \
            between the two) or \"stagger(0s, 10s)\" (the first member's, and the step to the next)",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\noverhead = \"stagger(0s, 1ms)\"",
        "t.toml:17:12: `flow.0.overhead` cannot be \"stagger\"\n  help: write \"100us\" or \"uniform(0s, 1ms)\" (a \
            time drawn between the two for each packet)",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\noverhead = \"uniform(2ms, 1ms)\"",
        "t.toml:17:12: `flow.0.overhead` begins after it ends\n  help: write the earlier time first",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nstart = \"stagger(0s, 80s)\"",
        "t.toml:17:9: `flow.0.start` is too late for member 2: the run ends at 70s\n  help: write an earlier \
            start, or a longer duration",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nstart = \"5s\"\nstop = \"5s\"",
        "t.toml:18:8: `flow.0.stop` is not after the flow's start\n  help: write a later time",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\ndelay = \"= 10ms + 2*k\"",
        "t.toml:17:12: `flow.0.delay` cannot be computed: a duration and a plain number have different units\
            \n  help: give both the same unit, as in `10ms + 2ms*(k-1)`",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\ndelay = []",
        "t.toml:17:9: `flow.0.delay` is an empty list\n  help: write at least one value",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\ntraffic = \"cbr\"",
        "t.toml:17:11: `flow.0.traffic` cannot use cbr: cbr needs a rate or a schedule\n  help: write rate = \"1Mbps\"",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\ntraffic = { kind = \"cbr\", schedule = [[\"5s\", \"1s\", \"2Mbps\"]] }",
        "t.toml:17:46: `flow.0.traffic.schedule.0.1` is not after the beginning of its interval\n  help: write a \
            later time",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\ntraffic = { kind = \"exponential\" }",
        "t.toml:17:11: `flow.0.traffic` needs `rate` for exponential: payload bits per second while on\n  help: write \
            { kind = \"exponential\", rate = \"1Mbps\" }",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\n\n[[flow]]\nname = \"near\"\nfrom = \"station\"\nto = \"slow\"\ntcp = \"reno\"\ndelay = \
            \"1ms\"",
        "t.toml:23:9: `flow.1.delay` is the delay of the wire to \"server\", but neither end is \"server\"\
            \n  help: set the \
            delay of a [[link]] instead",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nname = \"f\"\n[[flow]]\nname = \"f\"\nfrom = \"station\"\nto = \"server\"\ntcp = \"reno\"",
        "t.toml:19:8: `flow.1.name` is used by two flows\n  help: give each [[flow]] its own name",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\n[[node]]\nname = \"r\"\nkind = \"router\"\n[[flow]]\nfrom = \"r\"\nto = \"station\"\ntcp \
            = \"reno\"",
        "t.toml:21:8: `flow.1.from` is a router: a flow cannot end there\
            \n  help: name a host, or write kind = \"host\" in \
            its [[node]]",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\n[[node]]\nname = \"h\"\n[[flow]]\nfrom = \"h\"\nto = \"station\"\ntcp = \"reno\"",
        "t.toml:20:8: `flow.1.from` has no path to the other end of the flow\n  help: connect the two with [[link]] \
            tables",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\n[[link]]\nfrom = \"ap\"\nto = \"rr\"",
        "t.toml:19:6: `link.0.to` names an unknown node: \"rr\"\n  help: write one of: ap",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\n[[link]]\nfrom = \"ap\"\nto = \"slow\"",
        "t.toml:19:6: `link.0.to` names an unknown node: \"slow\"\n  help: write one of: ap",
    ),
    (
        "\"flow.0.count\"",
        "\"flow.1.count\"",
        "t.toml:19:1: `flow.1.count`: the list has no member `1`\n  help: write 0, the number of its only member",
    ),
    (
        "\"flow.0.count\"",
        "\"flow.0.cuont\"",
        "t.toml:19:1: there is no key `flow.0.cuont`\
            \n  help: did you mean `count`? Write one of: name, count, from, to, delay, udp, packet, tcp, window, \
            ack, ack_delay, encrypted, estimate, traffic, emulate, ac, overhead, start, stop, size",
    ),
    (
        "\"flow.0.count\"",
        "\"flw.0.count\"",
        "t.toml:19:1: there is no key `flw`\
            \n  help: did you mean `flow`? Write one of: param, wifi, field, ap, node, station, link, wire, flow",
    ),
    (
        "\"flow.0.count\"",
        "\"duration\"",
        "t.toml:19:1: `duration` is the same at every point\n  help: vary a key of the network, like \"flow.0.count\" \
            or \"wifi.slot\"",
    ),
    (
        "\"flow.0.count\"",
        "\"flow..count\"",
        "t.toml:19:1: `flow..count` is not a key path\n  help: write it like \"flow.0.count\" or \"wifi.slot\"",
    ),
    (
        "\"flow.0.count\"",
        "\"flow.0.count.x\"",
        "t.toml:19:1: `flow.0.count.x`: there is no key `x` in a bare number\n  help: shorten the key path",
    ),
    (
        "[1, 2]",
        "[]",
        "t.toml:19:18: `sweep.\"flow.0.count\"` is an empty list\n  help: write at least one value, or remove the key",
    ),
    ("[1, 2]", "[1, 1]", "t.toml:19:22: `sweep.\"flow.0.count\"` has the value 1 twice\n  help: remove one of the two"),
    (
        "[1, 2]",
        "3",
        "t.toml:19:18: `sweep.\"flow.0.count\"` must be a list, not a bare number\n  help: write the list of values \
            to try, [1, 2, 4]",
    ),
    (
        "[1, 2]",
        "[\"a\"]",
        "t.toml:19:19: `flow.0.count` must be a whole number, not \"a\"\n  help: write a whole number like 5",
    ),
    (
        "[1, 2]",
        "[1, 200000]",
        "t.toml:19:22: `flow.0.count` is too large: 200000\n  help: write a value from 0 to 100000",
    ),
    (
        "[1, 2]",
        "[1, 2, 1]\n\"wifi.slot\" = [\"9us\", \"9us\", \"9us\"]\nzip = [[\"flow.0.count\", \"wifi.slot\"]]",
        "t.toml:19:25: `sweep.\"flow.0.count\"` with `sweep.\"wifi.slot\"` has the value 1 with \"9us\" twice\n  \
            help: remove one of the two",
    ),
    (
        "[1, 2]",
        "[1, 2]\nzip = [[\"flow.0.count\", \"wifi.slot\"]]",
        "t.toml:20:25: `sweep.zip.0.1` names a key that [sweep] does not have: `wifi.slot`\
            \n  help: write one of: flow.0.count",
    ),
    (
        "[1, 2]",
        "[1, 2]\n\"wifi.slot\" = [\"9us\"]\nzip = [[\"flow.0.count\", \"wifi.slot\"]]",
        "t.toml:21:25: `sweep.zip.0.1` pairs lists of different length: 2 and 1 values\
            \n  help: give both keys the same number of values",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"",
        "t.toml:20:1: `claim.0` needs `expect`\n  help: write expect = { between = [1.2, 2.2] }",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { between = [2, 1] }",
        "t.toml:23:22: `claim.0.expect.between` has its lower end above its upper end\n  help: write [low, high]",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_lest = 2 }",
        "t.toml:23:12: there is no key `claim.0.expect.at_lest`\
            \n  help: did you mean `at_least`? Write one of: between, at_least, at_most, near, increasing, \
            decreasing, order, within, along",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 2, at_most = 3 }",
        "t.toml:23:10: `claim.0.expect` must have exactly one expectation\
            \n  help: write one of between = [1.2, 2.2], at_least = \
            0.9, at_most = \"10ms\", near = 1.5, perhaps with within = \"5%\", increasing = true or decreasing = true \
            with along = \"flow.0.count\", order = [\"a\", \"b\"] with along",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nsource = \"spec\"\nmetric = \"jain\"\nexpect = { near = 1 }",
        "t.toml:22:10: `claim.0.source` cannot be \"spec\"\n  help: write one of: paper, specification, beyond",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain / 2\"\npool = true\nless = { \"flow.0.count\" = 1 }\n\
            expect = { near = 1 }",
        "t.toml:20:1: `claim.0` has `pool` beside `less`\n  help: remove `pool`: a mean of differences needs none",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { near = 1, wihtin = \"1%\" }",
        "t.toml:23:22: there is no key `claim.0.expect.wihtin`\n  help: did you mean `within`? Write one of: between, \
            at_least, at_most, near, increasing, decreasing, order, within, along",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { near = \"2ms\", within = \"1Mbps\" }",
        "t.toml:23:35: `claim.0.expect.within` is a rate, but the other value is a duration\
            \n  help: write both in the same kind of unit",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { increasing = true, along = \"wifi.slot\" }",
        "t.toml:23:39: `claim.0.expect.along` names a key that is not swept: `wifi.slot`\
            \n  help: write one of: flow.0.count",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nwhen = { \"flow.0.count\" = 3 }",
        "t.toml:24:27: `claim.0.when.\"flow.0.count\"` is not a value of the sweep: 3\n  help: values of flow.0.count: \
            1, 2",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nverdict = \"not reproduced\"",
        "t.toml:20:1: `claim.0` is recorded as \"not reproduced\" but has no reason\n  help: write reason = \"why \
            the paper's value is not met\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nover = { \"ap.queu\" = \"fifo\" \
            }",
        "t.toml:24:10: there is no key `ap.queu`\
            \n  help: did you mean `queue`? Write one of: name, queue, ampdu, amsdu, mac_queue, aql, \
            access, control, position, observe",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nwhen = { \"flow.0.count\" = 2 \
            }\nover = { \"flow.0.count\" = 1, \"ap.queu\" = \"fifo\" }",
        "t.toml:25:30: there is no key `ap.queu`\
            \n  help: did you mean `queue`? Write one of: name, queue, ampdu, amsdu, mac_queue, aql, \
            access, control, position, observe",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\n[[claim]]\nid = \"a\"\nmetric = \
            \"jain\"\nexpect = { at_least = 1 }",
        "t.toml:24:1: `claim.1` has the id of another claim: \"a\"\n  help: give each [[claim]] its own id",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[check]]\nmetric = \"jain\"\nexpect = { at_least = 1 }",
        "t.toml:20:1: `check.0` needs `what`\n  help: write what = \"calls below 30 ms\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[check]]\nwhat = \"w\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nverdict = \"reproduced\"",
        "t.toml:24:1: there is no key `check.0.verdict`\n  help: write one of: what, metric, expect, over, less, when, \
            each, pool",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"flow.0.count\"\ny = \"jain\"\nlog = \"z\"",
        "t.toml:23:7: `figure.0.log` cannot be \"z\"\n  help: did you mean `x`? Write one of: x, y, xy",
    ),
    (
        "[1, 2]",
        "[0, 2]\n[[figure]]\nx = \"flow.0.count\"\ny = \"jain\"\nlog = \"x\"",
        "t.toml:23:7: `figure.0.log` needs values above zero on a logarithmic axis\n  help: select the other values \
            with `when`, or write log = \"y\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"time\"\ny = \"jain\"\nlog = \"xy\"",
        "t.toml:23:7: `figure.0.log` makes the axis of flows or time logarithmic\n  help: write log = \"y\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n\"ap.queue\" = [\"fifo\", \"codel\"]\n[[figure]]\nx = \"ap.queue\"\ny = \"jain\"\nlog = \"x\"",
        "t.toml:24:7: `figure.0.log` makes an axis of names logarithmic\n  help: write log = \"y\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"time\"\ny = \"jain\"\nby = \"flow.0.cuont\"",
        "t.toml:23:6: `figure.0.by` names a key that is not swept: `flow.0.cuont`\
            \n  help: did you mean `flow.0.count`? Write one of: flow.0.count",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"flow.0.count\"\ny = \"jain\"\nby = \"flow.0.count\"",
        "t.toml:23:6: `figure.0.by` is the key along `x` too: `flow.0.count`\n  help: name another swept key, or \
            remove it",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"flow.0.count\"\nvalues = [1, 2]\ny = \"jain\"",
        "t.toml:22:10: `figure.0.values` cannot be used in a figure over `flow.0.count`\
            \n  help: remove them, or write a new name as `x`, \"window\", and use point(\"window\") in `y`",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"window\"\nvalues = [1, \"fifo\"]\ny = \"jain\"",
        "t.toml:22:14: `figure.0.values.1` must be a number or a quantity, not \"fifo\"\n  help: write a number or a \
            quantity like 0.95 or \"15ms\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[search]\nkey = \"flow.0.window\"\nfrom = \"1p\"\nto = \"1ms\"\nuntil = \"jain > 1\"",
        "t.toml:23:6: `search.to` is a duration, but the other value is a number of packets\
            \n  help: write both in the same kind of unit",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[param]\nk = 3",
        "t.toml:21:1: `param.k` cannot be the name of a number\n  help: use letters, digits and _; `k` is the number \
            of a member",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nestimate = [\"ts_are\"]",
        "t.toml:17:13: `flow.0.estimate.0` needs timestamps, but this connection has none\n  help: write tcp = { ..., \
            timestamps = \"1us\" }",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nestimate = [\"are\", \"are\"]",
        "t.toml:17:20: `flow.0.estimate.1` is the second estimator called \"are\"\n  help: give it its own name: \
            [\"are\", { kind = \"are\", filter = 2, name = \"are2\" }]",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nestimate = [\"arr\"]",
        "t.toml:17:13: `flow.0.estimate.0` names an unknown estimator: \"arr\"\
            \n  help: did you mean `are`? Write one of: are, ts_are, westwood, westwood_nr, westwood_plus, tsw, csfq",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[field]\narea = 3",
        "t.toml:21:8: `field.area` must be a list, not a bare number\n  help: write a pair like [\"100m\", \"500m\"]",
    ),
];

#[test]
fn every_bad_file_has_its_message() {
    let mut wrong = String::new();
    for (from, to, expected) in CASES {
        let got = message(from, to);
        if got.trim_end() != *expected {
            wrong += &format!("    ({from:?}, {to:?}, {:?}),\n", got.trim_end());
        }
    }
    assert!(wrong.is_empty(), "these messages are not as expected; if they should be so, CASES has to say:\n{wrong}");
}

#[test]
fn a_rate_that_changes_is_given_once_and_in_order() {
    let wired = |rate: &str| {
        let text = format!(
            "duration = \"1s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\n\
            rate = {rate}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"reno\"\n"
        );
        parse("t.toml", &text, &[]).map_or_else(|e| e.render(false), |_| "(no error)\n".into())
    };
    assert_eq!(wired("{ schedule = [[\"0s\", \"10Mbps\"], [\"5s\", \"0bps\"]] }"), "(no error)\n");
    let cases = [
        ("{}", "t.toml:9:8: `link.0.rate` needs `trace` or `schedule`"),
        ("{ trace = \"a\", schedule = [] }", "`link.0.rate.schedule` and `trace` give the rate twice"),
        ("{ schedule = [] }", "`link.0.rate.schedule` is not at time 0"),
        ("{ schedule = [[\"0s\"]] }", "t.toml:9:22: `link.0.rate.schedule.0` must have two values"),
        ("{ schedule = [[\"1s\", \"1Mbps\"]] }", "`link.0.rate.schedule.0` is not at time 0"),
        ("{ schedule = [[\"0s\", \"0bps\"]] }", "without a rate above zero"),
        (
            "{ schedule = [[\"0s\", \"1Mbps\"], [\"0s\", \"2Mbps\"]] }",
            "t.toml:9:39: `link.0.rate.schedule.1` is not later than the entry before it",
        ),
        ("{ schedule = [[0, \"1Mbps\"]] }", "`link.0.rate.schedule.0.0` has no unit"),
    ];
    for (rate, message) in cases {
        let wrong = wired(rate);
        assert!(wrong.contains(message) && wrong.contains("help: "), "{rate}: {wrong}");
    }
}

/// The first line of the message and the remedy for a setting of the good file.
fn set(key: &str, value: &str) -> String {
    parse("t.toml", GOOD, &[(key.into(), value.into())]).map_or_else(|e| e.render(false), |_| "(no error)".into())
}

#[test]
fn a_short_name_of_a_standard_names_the_full_one() {
    for (given, name) in [
        ("n", "802.11n"),
        ("ac", "802.11ac"),
        ("802.11AC", "802.11ac"),
        ("ax", "802.11ax"),
        ("wifi6", "802.11ax"),
        ("Wi-Fi 6", "802.11ax"),
        ("be", "802.11be"),
    ] {
        let expected = format!("--set:1:15: `wifi.standard` is a short name\n  help: write \"{name}\"\n");
        assert_eq!(set("wifi.standard", given), expected);
    }
    let other = set("wifi.standard", "802.11z");
    assert!(other.contains("cannot be \"802.11z\"") && other.contains("802.11, 802.11b, 802.11a, 802.11g"), "{other}");
}

/// The error for the keys of `[wifi]` and `[[station]]`, without its place.
fn mode(wifi: &str, station: &str) -> String {
    let text = format!(
        "title = \"t\"\nduration = \"1s\"\n[wifi]\n{wifi}\n[[station]]\nname = \"a\"\n{station}\n[[flow]]\n\
        from = \"a\"\nto = \"server\"\nudp = {{ rate = \"1Mbps\" }}\n"
    );
    let wrong = parse("t.toml", &text, &[]).map_or_else(|e| e.render(false), |_| "(no error)".into());
    wrong.split_once(": ").map_or(wrong.clone(), |(_, rest)| rest.trim_end().replace("\n  help:", ";"))
}

#[test]
fn a_mode_that_does_not_exist_names_the_nearest_that_does() {
    let ac = "standard = \"802.11ac\"\n";
    let cases = [
        (
            "standard = \"802.11n\"\nwidth = \"80MHz\"",
            "",
            "`wifi.width` is 80 MHz, which 802.11n does not have; write \
            width = \"40MHz\"; 802.11n has 20, 40 MHz",
        ),
        (
            "standard = \"802.11ac\"\nwidth = \"320MHz\"",
            "",
            "`wifi.width` is 320 MHz, which 802.11ac does not have; \
            write width = \"160MHz\"; 802.11ac has 20, 40, 80, 160 MHz",
        ),
        (
            "standard = \"802.11ax\"\nband = \"2.4GHz\"\nwidth = \"80MHz\"",
            "",
            "`wifi.width` is 80 MHz, which 802.11ax \
            does not have at 2.4GHz; write width = \"40MHz\"",
        ),
        (
            "standard = \"802.11ac\"\nband = \"2.4GHz\"",
            "",
            "`wifi.band` is 2.4GHz, where 802.11ac does not work; write \
            \"5GHz\"",
        ),
        (
            &format!("{ac}mcs = 9"),
            "",
            "`wifi.mcs` is 9, which 802.11ac does not have at 20 MHz with 1 stream; write mcs = \
            8, or another width or number of streams",
        ),
        (&format!("{ac}mcs = 9\nstreams = 3"), "", "(no error)"),
        (&format!("{ac}mcs = 10"), "", "`wifi.mcs` is 10, but 802.11ac has 0 to 9 for each stream; write mcs = 8"),
        (
            &format!("{ac}guard = \"1.6us\""),
            "",
            "`wifi.guard` is 1600 ns, which 802.11ac does not have; write guard = \
            \"800ns\"; 802.11ac has 400, 800 ns",
        ),
        (
            &format!("{ac}packet_padding = \"8us\""),
            "",
            "`wifi.packet_padding` is 8 us, which 802.11ac does not have; \
            write packet_padding = \"0us\"; 802.11ac has 0 us",
        ),
        (
            &format!("{ac}extended_range = true"),
            "",
            "`wifi.extended_range` is for 802.11ax only; remove it, or write \
            standard = \"802.11ax\"",
        ),
        (
            "standard = \"802.11n\"\nmcs = 15\nstreams = 3",
            "",
            "`wifi.mcs` is 15, which has 2 streams, but `streams` is \
            3; write mcs = 23",
        ),
        (
            "standard = \"802.11n\"\nmcs = 15",
            "mcs = 33",
            "`station.0.mcs` is too large: 33; write a value from 0 to 31",
        ),
        (
            "standard = \"802.11g\"\nmcs = 7",
            "",
            "`wifi.mcs` is for standards with MCS, and 802.11g has rates; write rate \
            = \"54Mbps\", or standard = \"802.11ax\"",
        ),
        (
            "standard = \"802.11ax\"\nrate = \"54Mbps\"",
            "",
            "`wifi.rate` is for standards without MCS, and 802.11ax has \
            MCS; write mcs = 4 (51.6Mbps here)",
        ),
        (
            "standard = \"802.11ax\"",
            "rate = \"54Mbps\"",
            "`station.0.rate` is for standards without MCS, and 802.11ax \
            has MCS; write mcs = 4 (51.6Mbps here), or add standard = \"802.11a\"",
        ),
        ("standard = \"802.11ax\"", "standard = \"802.11a\"\nrate = \"54Mbps\"", "(no error)"),
        (
            "standard = \"802.11ax\"",
            "standard = \"802.11be\"",
            "`station.0.standard` is 802.11be, which cannot join a \
            cell of 802.11ax at 5GHz; write one of: 802.11a, 802.11n, 802.11ac, 802.11ax",
        ),
        (
            ac,
            "width = \"80MHz\"\nstreams = 6\nmcs = 9",
            "`station.0.mcs` is 9, which 802.11ac does not have at 80 MHz with \
            6 streams; write mcs = 8, or another width or number of streams",
        ),
        (
            &format!("{ac}width = \"40MHz\""),
            "width = \"20MHz\"",
            "`station.0` has a mode that does not exist: mcs is 9, \
            which 802.11ac does not have at 20 MHz with 1 stream; write mcs = 8, or another width or number of streams",
        ),
        (
            "standard = \"802.11a\"\nprotection = \"rts-cts\"",
            "",
            "`wifi.protection` is for 802.11g and later standards, \
            beside older stations; remove it, or write standard = \"802.11g\"",
        ),
    ];
    for (wifi, station, expected) in cases {
        assert_eq!(mode(wifi, station), expected, "{wifi} / {station}");
    }
}

#[test]
fn aggregates_have_the_limits_of_the_standard() {
    for (wifi, expected) in [
        (
            "standard = \"802.11g\"\nampdu = {}",
            "`wifi.ampdu` needs 802.11n or a later standard; write standard = \"802.11n\", or remove it",
        ),
        (
            "standard = \"802.11n\"\nampdu = { window = 65 }",
            "`wifi.ampdu.window` is too large: 65; write a value from 1 to 64",
        ),
        (
            "standard = \"802.11n\"\nampdu = { bytes = \"65536B\" }",
            "`wifi.ampdu.bytes` is too large: 65536B; write a value from 1B to 65535B",
        ),
        (
            "standard = \"802.11ac\"\nampdu = { duration = \"6ms\" }",
            "`wifi.ampdu.duration` is longer than a PPDU may last; write at most \"5.484ms\"",
        ),
        (
            "standard = \"802.11ac\"\nampdu = { mpdus = 9, window = 8 }",
            "`wifi.ampdu.mpdus` is too large: 9; write a value from 1 to 8",
        ),
        (
            "standard = \"802.11n\"\nmac_queue = \"100p\"",
            "`wifi.mac_queue` has no meaning without aggregates; write ampdu = {}, or remove it",
        ),
        (
            "standard = \"802.11n\"\nampdu = {}\nmac_queue = \"100B\"",
            "`wifi.mac_queue` counts 1 to 1000000 packets; write for example mac_queue = \"128p\"",
        ),
        (
            "standard = \"802.11n\"\nampdu = { hw_queue = 65 }",
            "`wifi.ampdu.hw_queue` is too large: 65; write a value from 0 to 64",
        ),
        (
            "standard = \"802.11n\"\n[ap]\naql = {}",
            "`ap.aql` has no meaning without aggregates; write ampdu = {}, or remove it",
        ),
        (
            "standard = \"802.11n\"\nampdu = {}\n[ap]\naql = { high = \"4ms\" }",
            "`ap.aql` has a `high` limit below the `low` one; write a larger high, or a smaller low",
        ),
        ("standard = \"802.11n\"\nampdu = {}\n[ap]\naql = { low = \"2ms\", high = \"4ms\" }", "(no error)"),
        ("standard = \"802.11n\"\n[ap]\naql = \"off\"", "(no error)"),
        ("standard = \"802.11ax\"\nampdu = { window = 256, lifetime = \"never\" }", "(no error)"),
        ("standard = \"802.11ax\"\nampdu = \"off\"", "(no error)"),
        (
            "standard = \"802.11a\"\namsdu = \"3839B\"",
            "`wifi.amsdu` needs 802.11n or a later standard; write standard = \"802.11n\", or remove it",
        ),
        (
            "standard = \"802.11n\"\namsdu = \"7935B\"\nampdu = {}",
            "`wifi.amsdu` is too large: 7935B; write a value from 1B to 4065B",
        ),
        (
            "standard = \"802.11n\"\namsdu = \"11398B\"",
            "`wifi.amsdu` is too large: 11398B; write a value from 1B to 7935B",
        ),
        (
            "standard = \"802.11ax\"\nband = \"2.4GHz\"\namsdu = \"11398B\"",
            "`wifi.amsdu` is too large: 11398B; write a value from 1B to 7935B",
        ),
        ("standard = \"802.11ax\"\namsdu = \"11398B\"\nmac_queue = \"20p\"", "(no error)"),
        ("standard = \"802.11n\"\namsdu = \"off\"", "(no error)"),
    ] {
        assert_eq!(mode(wifi, ""), expected, "{wifi}");
    }
}

#[test]
fn a_channel_without_an_snr_says_what_is_missing() {
    let add = "add snr = \"25dB\"; in a [field] also error_model = \"nist\" in [wifi]";
    let ac = "standard = \"802.11ac\"\n";
    for (wifi, station, expected) in [
        ("snr = \"500dB\"", "", "`wifi.snr` is 500dB; write a value from \"-20dB\" to \"100dB\"".to_owned()),
        ("snr = \"25\"", "", "`wifi.snr` is no number of dB: \"25\"; write a value from \"-20dB\" to \"100dB\"".into()),
        ("", "snr = \"-25dB\"", "`station.0.snr` is -25dB; write a value from \"-20dB\" to \"100dB\"".into()),
        ("snr = \"25dB\"", "", "(no error)".into()),
        ("", "snr = \"= 20 + k\"", "(no error)".into()),
        ("", "fading = \"rayleigh\"", format!("`station.0.fading` changes an SNR, but the channel has none; {add}")),
        ("fading = \"rayleigh\"", "snr = \"20dB\"", "(no error)".into()),
        (
            "fading = \"rayleigh\"",
            "",
            format!("`station.0` has a channel whose fading changes an SNR, but the channel has none; {add}"),
        ),
        (
            "",
            "rate_control = \"ideal\"",
            format!(
                "`station.0.rate_control` is \"ideal\", which reads the SNR of answers, but the channel has none; {add}"
            ),
        ),
        ("rate_control = \"minstrel_ht\"", "", "(no error)".into()),
        ("error_model = \"nist\"", "", "`wifi.error_model` needs an SNR; add snr = \"25dB\" to [wifi]".into()),
        (
            "snr = \"20dB\"\nerror_model = \"table\"",
            "",
            "`wifi.error_model` needs a file with its losses; write error_model = { kind = \"table\", \
                file = \"losses.csv\" }, with rows of SNR, MCS and PER"
                .into(),
        ),
    ] {
        assert_eq!(mode(&format!("{ac}{wifi}"), station), expected, "{wifi} / {station}");
    }
    let dsss = mode("standard = \"802.11b\"\nsnr = \"20dB\"", "");
    assert!(dsss.contains("`wifi` cannot use nist:") && dsss.contains("use rates of OFDM"), "{dsss}");
}

#[test]
fn durations_of_ns_3_are_for_frames_with_mcs() {
    let wrong = set("wifi.durations", "ns3");
    assert!(wrong.contains("is \"ns3\", which changes frames with MCS only"), "{wrong}");
}

#[test]
fn a_call_that_is_none_names_the_calls_that_are() {
    for (key, value) in [("flow.0.start", "rand(0,2)"), ("flow.0.overhead", "rand(0s, 1ms)")] {
        let e = set(key, value);
        assert!(e.contains("cannot be \"rand\"") && e.contains("uniform(0s, "), "{e}");
    }
}

#[test]
fn a_window_is_no_time() {
    assert_eq!(
        set("flow.0.window", "42ms"),
        "--set:1:15: `flow.0.window` is a time, 42ms, but a window is in packets or bytes\n  help: write how much may \
            be under way, like \"42p\" or \"64kB\"; a time belongs to `delay`\n"
    );
}

#[test]
fn a_station_cannot_hide_the_server() {
    assert_eq!(
        set("station", "[{ name = \"server\" }]"),
        "--set:1:9: `station.0.name` cannot be \"server\", which is the wired end of a flow\n  help: choose another \
            name, like \"nas\"\n"
    );
}
