//! Words of a file or a setting that would have no effect are refused: results that ignore them would mislead.

use contend_lab::reading::file::parse;

/// A cell with a download and an upload.
const GOOD: &str = r#"duration = "70s"
[param]
load = 3
[wifi]
standard = "802.11g"
[ap]
queue = "fifo"
[wire]
rate = "100Mbps"
[[flow]]
count = "= load"
from = "server"
to = "station"
tcp = "newreno"
[[flow]]
from = "station"
to = "server"
tcp = "newreno"
packet = "1000B"
"#;

/// The message about `text`, read with these settings; empty when there is none.
fn message_with(text: &str, sets: &[(&str, &str)]) -> String {
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    parse("t.toml", text, &sets).map_or_else(|e| e.render(false), |_| String::new())
}

/// The message about the good file with `from` replaced by `to`.
#[track_caller]
fn message(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    message_with(&GOOD.replacen(from, to, 1), &[])
}

#[test]
fn without_any_flow_nothing_would_be_measured() {
    let both = GOOD.replace("packet = \"1000B\"", "packet = \"1000B\"\ncount = 0");
    let none = "t.toml:11:9: `flow.0.count` leaves no flow: nothing would be sent\n  help: write a count of at least \
        1 for one \
                of the flows\n";
    assert_eq!(message_with(&both.replace("= load", "= load - 3"), &[]), none);
    assert_eq!(message_with(&both, &[]), "", "one of two flows may be switched off");
    let swept = format!("{GOOD}[sweep]\n\"flow.1.count\" = [0, 1]\n");
    assert_eq!(message_with(&swept, &[]), "");
}

#[test]
fn a_flow_is_not_called_as_other_flows_are() {
    let named = |name: &str| message("count = \"= load\"", &format!("count = \"= load\"\nname = \"{name}\""));
    assert_eq!([named("down"), named("short"), named("ap")], [const { String::new() }; 3]);
    assert_eq!(
        named("up"),
        "t.toml:12:8: `flow.0.name` cannot be \"up\": metrics read `up` as all uploads\n  help: choose another name\n"
    );
    for group in ["all", "total"] {
        assert!(named(group).contains(&format!("metrics read `{group}` as all flows")), "{}", named(group));
    }
}

#[test]
fn a_param_that_the_file_does_not_have_cannot_be_set() {
    assert_eq!(message_with(GOOD, &[("param.load", "4")]), "");
    assert_eq!(
        message_with(GOOD, &[("param.laod", "4")]),
        "--set:1:1: `param.laod`: [param] of the file has no such key\n  help: did you mean `load`? Write one \
            of: load\n"
    );
    let sweep = |key: &str| message("[wire]", &format!("[sweep]\n\"param.{key}\" = [1, 2]\n[wire]"));
    assert_eq!(sweep("load"), "");
    assert!(
        sweep("laod").starts_with("t.toml:9:1: `param.laod`: [param] of the file has no such key\n  help: did you")
    );
    let without =
        message_with(&GOOD.replace("[param]\nload = 3\n", "").replace("\"= load\"", "2"), &[("param.n", "4")]);
    assert!(without.contains("add it to the file: [param] n = ..."), "{without}");
    let claim =
        "[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 0.5 }\nover = { \"param.laod\" = 4 }\n";
    assert!(message_with(&format!("{GOOD}{claim}"), &[]).contains("`param.laod`: [param] of the file has no such key"));
}

#[test]
fn a_network_without_flows_is_refused() {
    let text = GOOD.split("[[flow]]").next().unwrap();
    assert_eq!(
        message_with(text, &[]),
        "t.toml: the file has no [[flow]]: nothing would be sent\n  help: add [[flow]] with from = \"server\", to = \
            \"station\", tcp = \"newreno\"; or write [contention] or [model]\n"
    );
    let contention = message_with("[contention]\nstations = 2\nrule = \"dcf\"\n", &[]);
    assert!(contention.is_empty(), "{contention}");
}

#[test]
fn files_at_distances_need_a_count() {
    let traffic = |table: &str| message("packet = \"1000B\"", &format!("traffic = {table}"));
    assert_eq!(traffic("\"files\""), "");
    assert_eq!(traffic("{ kind = \"files\", gap = \"2s\", count = 0 }"), "");
    assert_eq!(traffic("{ kind = \"files\", gap = \"2s\", count = 1 }"), "");
    for (key, table) in
        [("gap", "gap = \"2s\""), ("law", "law = \"exponential\""), ("gap", "law = \"fixed\", gap = \"1s\"")]
    {
        assert_eq!(
            traffic(&format!("{{ kind = \"files\", {table} }}")),
            format!(
                "t.toml:19:11: `flow.1.traffic` has `{key}` and no `count`: one file is sent, and no file follows\
                    \n  help: \
                    write count = 20 for 20 files, or count = 0 for files without end\n"
            )
        );
    }
}

#[test]
fn a_queue_that_has_no_room_for_a_packet_is_refused() {
    let ap = |limit: &str| message("queue = \"fifo\"", &format!("queue = {{ kind = \"fifo\", limit = \"{limit}\" }}"));
    let refused = |place: &str, what: &str, flow: &str, size: u32, remedy: &str| {
        format!(
            "t.toml:{place}` drops every {what} of `{flow}`: each has {size} B, more than the queue's limit\
                \n  help: {remedy}\n"
        )
    };
    let larger = "write limit = \"1500B\" or more";
    assert_eq!(ap("1B"), refused("7:9: `ap.queue", "packet", "down.1", 1500, larger));
    assert_eq!(ap("1499B"), refused("7:9: `ap.queue", "packet", "down.1", 1500, larger));
    assert_eq!(ap("1500B"), "");
    assert_eq!(ap("1p"), "");
    // Only acknowledgments of the upload pass.
    let uploads = GOOD.replace("\"= load\"", "0").replace("load = 3", "load = 0");
    let queue = |limit: &str| uploads.replace("\"fifo\"", &format!("{{ kind = \"fifo\", limit = \"{limit}\" }}"));
    assert_eq!(message_with(&queue("52B"), &[]), "");
    let least = refused("7:9: `ap.queue", "acknowledgment", "up", 52, "write limit = \"52B\" or more");
    assert_eq!(message_with(&queue("51B"), &[]), least);
    // The queue of all stations, of the wires, of their reverse direction.
    let one = |key: &str| format!("{key} = {{ kind = \"codel\", limit = \"999B\" }}");
    let wifi = message("standard = \"802.11g\"", &format!("standard = \"802.11g\"\n{}", one("queue")));
    assert_eq!(wifi, refused("6:9: `wifi.queue", "packet", "up", 1000, "write limit = \"1000B\" or more"));
    let wire = message("rate = \"100Mbps\"", &one("queue"));
    assert_eq!(wire, refused("9:9: `wire.queue", "packet", "down.1", 1500, larger));
    let reverse = message("rate = \"100Mbps\"", &format!("reverse = {{ {} }}", one("queue")));
    assert_eq!(reverse, refused("9:21: `wire.reverse.queue", "packet", "up", 1000, "write limit = \"1000B\" or more"));
    // A part of a discipline, and a source that writes less than a packet.
    let parts = "queue = { kind = \"directions\", data_limit = \"1kB\", ack_limit = \"10p\" }";
    assert_eq!(
        message("queue = \"fifo\"", parts),
        refused("7:9: `ap.queue", "packet", "down.1", 1500, "write data_limit = \"1500B\" or more")
    );
    let calls = ap("200B");
    assert!(calls.contains("1500 B"), "{calls}");
    let udp = GOOD.replacen("tcp = \"newreno\"", "udp = {}\ntraffic = \"voip\"", 1).replacen(
        "\"fifo\"",
        "{ kind = \"fifo\", limit = \"400B\" }",
        1,
    );
    assert_eq!(message_with(&udp, &[]), "");
}

#[test]
fn a_link_between_nodes_is_asked_for_the_flows_that_cross_it() {
    let text = |limit: &str| {
        format!(
            "duration = \"9s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"r\"\nkind = \"router\"\n[[node]]\n\
                name = \"b\"\n\
                 [[link]]\nfrom = \"a\"\nto = \"r\"\n[[link]]\nfrom = \"r\"\nto = \"b\"\n\
                 queue = {{ kind = \"fifo\", limit = \"{limit}\" }}\nreverse = {{ queue = {{ kind = \"fifo\", limit \
                 = \"60B\" }} }}\n\
                 [[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"reno\"\n"
        )
    };
    assert_eq!(message_with(&text("1500B"), &[]), "");
    let small = message_with(&text("1400B"), &[]);
    assert!(small.starts_with("t.toml:15:9: `link.1.queue` drops every packet of `wired`"), "{small}");
    // A byte for each direction: the data are named first.
    let back = message_with(&text("1500B").replace("60B", "1B"), &[]);
    assert!(back.starts_with("t.toml:16:21: `link.1.reverse.queue` drops every acknowledgment of `wired`"), "{back}");
}
