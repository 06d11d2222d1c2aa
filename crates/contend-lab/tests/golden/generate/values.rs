//! The values that the keys of generated networks have.

/// Standard, rates in Mb/s and basic rates in Mb/s.
pub(crate) const STANDARDS: &[(&str, &[&str], &[&str])] = &[
    ("802.11g", &["54", "36", "24", "18", "12", "9", "6", "11", "5.5", "2", "1"], &["6", "12", "24"]),
    ("802.11g", &["54", "6"], &["6"]),
    ("802.11b", &["11", "5.5", "2", "1"], &["1", "2"]),
    ("802.11a", &["54", "48", "12", "6"], &["6", "12", "24"]),
    ("802.11", &["2", "1"], &["1"]),
];
pub(crate) const ACCESS: &[&str] = &[
    r#""dcf""#,
    r#"{ kind = "dcf", cwmin = 3, cwmax = 63 }"#,
    r#"{ kind = "dcf", aifsn = 7, txop = "3ms" }"#,
    r#"{ kind = "dcf", cwmin = 1, cwmax = 7 }"#,
    r#""dcf_m""#,
    r#"{ kind = "dcf_m", after = "success", per_contender = 1 }"#,
    r#""idle_sense""#,
    r#"{ kind = "idle_sense", window = "steady" }"#,
    r#""hash""#,
    r#"{ kind = "hash", slots = 6 }"#,
    r#""hash1""#,
    r#""pdf""#,
    r#"{ kind = "pdf", weights = [4, 0, 2, 1], residual = true, exponential = true }"#,
    r#""residual_window""#,
    r#""tcf""#,
    r#"{ kind = "tcf", stations = 40 }"#,
    r#""dfs""#,
    r#"{ kind = "dfs", mapping = "exp", threshold = 8, range = 20 }"#,
    r#"{ kind = "dfs", mapping = "sqrt", weight = 2 }"#,
    r#""permutation""#,
    r#"{ kind = "permutation", slots = 5 }"#,
    r#""classes""#,
    r#"{ kind = "classes", weights = [1, 2], vo = [4, 1], vi = [3, 1], bk = [1, 4] }"#,
];
pub(crate) const EDCA: &[&str] = &[
    r#""edca""#,
    r#"{ kind = "edca", table = "802.11-2016" }"#,
    r#"{ kind = "edca", scheduling = "sbb" }"#,
    r#"{ kind = "edca", busy_slot = "frozen", vo = { cwmin = 1, cwmax = 3, txop = "2ms" } }"#,
    r#"{ kind = "edca", be = { aifsn = 2, cwmin = 3, cwmax = 7 }, bk = { aifsn = 2, cwmin = 3, cwmax = 7 } }"#,
];
pub(crate) const QUEUES: &[&str] = &[
    r#""fifo""#,
    r#"{ kind = "fifo", limit = "1p" }"#,
    r#"{ kind = "fifo", limit = "2p" }"#,
    r#"{ kind = "fifo", limit = "5p" }"#,
    r#"{ kind = "fifo", limit = "9kB" }"#,
    r#"{ kind = "ack_filter", limit = "20p" }"#,
    r#""airtime""#,
    r#"{ kind = "airtime", inner = "fifo", station_limit = "8p", quantum = "1ms" }"#,
    r#"{ kind = "airtime", limit = "12p", target = "2ms", interval = "20ms", slow_rate = "12Mbps" }"#,
    r#"{ kind = "avq", limit = "30p" }"#,
    r#"{ kind = "codel", target = "2ms", interval = "20ms" }"#,
    r#"{ kind = "codel", ecn = true, limit = "40p" }"#,
    r#"{ kind = "cwaq", limit = "20p" }"#,
    r#"{ kind = "cwpq", limit = "20p", interval = "20ms", drop = true }"#,
    r#"{ kind = "directions", data_limit = "10p", ack_limit = "5p" }"#,
    r#"{ kind = "directions", acks = "reverse", order = "acks_first" }"#,
    r#"{ kind = "elf", limit = "40p" }"#,
    r#"{ kind = "elf", cost = "airtime", power = 4 }"#,
    r#""fq_codel""#,
    r#"{ kind = "fq_codel", flows = 2, limit = "15p", target = "1ms", interval = "10ms", drop_batch = 4 }"#,
    r#"{ kind = "pi", limit = "40p", reference = "10p" }"#,
    r#"{ kind = "pie", limit = "50p", target = "5ms", t_update = "5ms", max_burst = "0s" }"#,
    r#"{ kind = "pie", estimate = "rate", ecn = true, target = "3ms" }"#,
    r#"{ kind = "red", limit = "40p", min_th = "4p", max_th = "12p" }"#,
    r#"{ kind = "red", limit = "40p", min_th = "3p", max_th = "9p", ecn = true, gentle = true, adaptive = true }"#,
    r#"{ kind = "rem", limit = "30p", reference = "8p" }"#,
    r#"{ kind = "vcrr", limit = "30p" }"#,
    r#""vfq""#,
    r#"{ kind = "vfq", box_max_len = "5p", queue_length = "20p", contention = "fit", count_ap = true }"#,
    r#"{ kind = "vqr", limit = "30p" }"#,
    r#"{ kind = "vrc", limit = "30p", reference = "5ms" }"#,
    r#"{ kind = "wf2q", class_limit = "6p" }"#,
    r#"{ kind = "wf2q", classes = "flow", cost = "airtime", update = "printed", limit = "25p" }"#,
];
/// The queues of networks from [`FIRST_SHAPED`](super::FIRST_SHAPED) on.
pub(crate) const CAKES: &[&str] = &[
    r#""cake""#,
    r#"{ kind = "cake", bandwidth = "6Mbps" }"#,
    r#"{ kind = "cake", bandwidth = "20Mbps", ingress = true, diffserv = "diffserv4" }"#,
    r#"{ kind = "cake", bandwidth = "5Mbps", overhead = 18, mpu = 64, atm = "ptm", diffserv = "diffserv8" }"#,
    r#"{ kind = "cake", bandwidth = "3Mbps", atm = "atm", flow_mode = "dual_dsthost", memory = "20kB" }"#,
    r#"{ kind = "cake", bandwidth = "10Mbps", autorate_ingress = true, diffserv = "precedence" }"#,
    r#"{ kind = "cake", flow_mode = "flowblind", diffserv = "besteffort", rtt = "10ms" }"#,
    r#"{ kind = "cake", flow_mode = "hosts", rtt = "5ms", memory = "9kB", ack_filter = true }"#,
];
/// Queues that mark for L4S.
pub(crate) const SHALLOW: &[&str] = &[
    r#""dualpi2""#,
    r#"{ kind = "dualpi2", native = "ramp", scheduler = "shift", recur = true, input = "classic" }"#,
    r#"{ kind = "dualpi2", step_queue = "2p", min_step_queue = "2p", overload = "overflow", limit = "30p" }"#,
    r#"{ kind = "dualpi2", native = "off", target = "2ms", l4s = "any_ect", drop_at = "enqueue" }"#,
    r#"{ kind = "codel", ecn = true, ce_threshold = "1ms", ce_select = "ect1", ce_behind = "1500B" }"#,
    r#"{ kind = "fq_codel", ce_threshold = "2ms", ce_select = "ect1", ce_from = "turn" }"#,
    r#"{ kind = "fq_codel", ce_threshold = "2ms", mark_at = "burst" }"#,
    r#"{ kind = "airtime", ce_threshold = "1ms", ce_select = "ect1", ce_from = "turn", classic_for_ect1 = false }"#,
    r#"{ kind = "airtime", ce_drain = "5ms", ce_select = "ect1", target = "5ms" }"#,
    r#"{ kind = "airtime", ce_excess = 1, ce_threshold = "3ms", mark_at = "burst", limit = "60p" }"#,
];
/// The queues of networks from [`FIRST_PROTECTED`](super::FIRST_PROTECTED) on.
pub(crate) const PROTECTED: &[&str] = &[
    r#"{ kind = "dualpi2", protection = true }"#,
    r#"{ kind = "dualpi2", protection = true, critical_delay = "300us", native = "ramp", scheduler = "shift" }"#,
    r#"{ kind = "dualpi2", protection = true, critical_score = "1ms", aging = "2Mbps", bucket_bits = 0 }"#,
    r#"{ kind = "dualpi2", protection = true, critical_delay = "2ms", critical_score = "10ms", l4s = "any_ect" }"#,
];
/// Senders with accurate ECN, and classic ones beside them.
pub(crate) const SCALABLE: &[&str] = &[
    r#""prague""#,
    r#"{ kind = "prague", cc = { kind = "prague", grow = "queue", gate = "mark", fallback = "act" } }"#,
    r#"{ kind = "prague", cc = { kind = "prague", start = "one" }, accecn = { option = false } }"#,
    "{ kind = \"prague\", accecn = { option = false, wrap = \"thinned\", acks = \"linux\" }, sack = false, \
        recovery = \"newreno\" }",
    r#"{ kind = "cubic", echo = "accurate", ect_all = true }"#,
    r#"{ kind = "bbr3", echo = "accurate", ect = "ect1" }"#,
    r#"{ kind = "dctcp", ect = "ect1" }"#,
    r#"{ kind = "cubic", echo = "latch" }"#,
];
/// What happens to acknowledgments on the way.
pub(crate) const ACK_CONTROLS: &[&str] = &[
    r#""accf""#,
    r#"{ kind = "ack_thinning", d = 3, accecn = "blind" }"#,
    r#"{ kind = "ack_thinning", d = 4, accecn = "count" }"#,
    r#"{ kind = "accf", accecn = "count" }"#,
];
/// Opening segments, with the timers that go with them.
pub(crate) const OPENINGS: &[&str] = &["handshake = \"segment\"", "handshake = true", "handshake = false"];
pub(crate) const CONTROLS: &[&str] = &[
    r#""accf""#,
    r#"{ kind = "accf", period = "50ms", fallback = "uplink", flush = false }"#,
    r#""ack_thinning""#,
    r#"{ kind = "ack_thinning", d = 4, hold = "2ms" }"#,
    r#"{ kind = "fcwa", buffer = "20p" }"#,
    r#"{ kind = "fcwa", mode = "estimated", ct = "measured", buffer = "10p", update = "50ms" }"#,
    r#"{ kind = "pilosof", buffer = "50p" }"#,
    r#"{ kind = "pilosof", buffer = "12p", keep_edge = false }"#,
    r#"{ kind = "rate_limiter", period = "20ms" }"#,
    r#"{ kind = "rate_limiter", on = "acks", share = "10%", period = "50ms", limit = "4p" }"#,
    r#"{ kind = "rate_limiter", on = "data", share = "5%", burst = "3kB", limit = "6p" }"#,
];
pub(crate) const LOSSES: &[&str] = &[
    r#"{ kind = "bernoulli", p = "3%" }"#,
    r#"{ kind = "bernoulli", p = "20%", on = "ack" }"#,
    r#"{ kind = "bernoulli", p = 0.1, on = "data" }"#,
    r#"{ kind = "per", p = "10%" }"#,
    r#"{ kind = "per", p = "30%", reference = "60B" }"#,
    r#"{ kind = "per", p = "20%", frames = "data" }"#,
    r#"{ kind = "ber", ber = 1e-5 }"#,
    r#"{ kind = "ber", ber = 1e-4 }"#,
    r#"{ kind = "gilbert_elliott", good = "50ms", bad = "5ms", e_bad = "80%" }"#,
    r#"{ kind = "gilbert_elliott", clock = "packet", p_gb = "2%", p_bg = "20%", e_good = "1%" }"#,
    r#"{ kind = "script", outage = [["100ms", "130ms"], ["300ms", "301ms"]] }"#,
    r#"{ kind = "script", drop = [{ flow = "a.1", segment = 3 }, { flow = "a.1", segment = 3, copy = 1 }] }"#,
];
pub(crate) const CLIENTS: &[&str] = &[
    r#""usb""#,
    r#""converter""#,
    r#"{ kind = "converter", mode = "pause", rate = "100Mbps", latency = "100us" }"#,
    r#"{ kind = "converter", mode = "pause", nic = "20p", high = "50%", low = "20%" }"#,
    r#"{ kind = "converter", rate = "10Mbps", nic = "5p", latency = "2ms" }"#,
];
pub(crate) const VARIANTS: &[&str] = &[
    "tahoe",
    "reno",
    "newreno",
    "sack",
    "cubic",
    "westwood",
    "westwood-nr",
    "westwood+",
    "aiad-kappa",
    "aiad-phi",
    "jersey",
    "jersey-orig",
    "jersey-enh",
    "vegas",
    "tcp_d",
    "dctcp",
    "bbr",
    "bbr3",
    "perfect",
    "veno",
];
pub(crate) const RECOVERIES: &[&str] = &[
    r#""tahoe""#,
    r#"{ kind = "tahoe", guard = "always" }"#,
    r#""reno""#,
    r#"{ kind = "reno", halve_from = "cwnd", guard = "off" }"#,
    r#""newreno""#,
    r#"{ kind = "newreno", variant = "slow-but-steady", dupthresh = 2 }"#,
    r#""sack""#,
    r#"{ kind = "sack", rescue = false }"#,
    r#""vegas""#,
    r#""rack""#,
    r#"{ kind = "rack", prr = false, undo = false, tlp = false, adaptive = false }"#,
];
/// Keys of a `tcp` table that go with every variant.
pub(crate) const TCP_KEYS: &[&str] = &[
    "handshake = false",
    "initial_window = 1",
    "initial_window = \"4p\"",
    "initial_ssthresh = 6",
    "sack = true",
    "window_scaling = false",
    "limited_transmit = false",
    "pacing = true",
];
pub(crate) const ESTIMATES: &[&str] = &[
    r#"["are"]"#,
    r#"["westwood", "westwood_nr", "westwood_plus"]"#,
    r#"["tsw", { kind = "csfq", omega = "20ms" }]"#,
    r#"["ts_are"]"#,
];
/// Traffic of any flow.
pub(crate) const TRAFFIC: &[&str] = &[
    r#"{ kind = "cbr", rate = "2Mbps" }"#,
    r#"{ kind = "cbr", rate = "8Mbps", packet = "500B" }"#,
    r#"{ kind = "cbr", schedule = [["100ms", "200ms", "4Mbps"], ["350ms", "400ms", "20Mbps"]] }"#,
    r#"{ kind = "cbr", rate = "1Mbps", random = 1 }"#,
    r#"{ kind = "poisson", rate = "1Mbps" }"#,
    r#"{ kind = "poisson", rate = "100kbps", rate_max = "5Mbps", packet = "200B" }"#,
    r#"{ kind = "exponential", rate = "6Mbps", on = "50ms", off = "50ms" }"#,
    r#"{ kind = "pareto", rate = "6Mbps", on = "60ms", off = "40ms" }"#,
    r#"{ kind = "voip", gap = "50ms", call = "200ms", on = "50ms", off = "50ms" }"#,
    r#"{ kind = "token_bucket", rate = "3Mbps", timer = "5ms" }"#,
];
/// Traffic of TCP only: files that are larger than a packet, and sources that send as fast as TCP lets them.
pub(crate) const TCP_TRAFFIC: &[&str] = &[
    r#"{ kind = "files", size = "8p", count = 0, gap = "60ms" }"#,
    r#"{ kind = "files", size = "3p", count = 5, gap = "40ms", law = "exponential" }"#,
    r#""bulk""#,
    r#"{ kind = "sessions", on = "100ms", off = "50ms" }"#,
];

pub(crate) const PROPAGATIONS: &[&str] =
    &[r#""range""#, r#""friis""#, r#""two_ray""#, r#"{ kind = "log_distance", exponent = 2.5 }"#];
pub(crate) const CAPTURES: &[&str] = &[
    r#""none""#,
    r#""6dB""#,
    r#"{ ratio = "3dB", frame = "strongest" }"#,
    r#"{ ratio = "3dB", interference = "sum" }"#,
];
pub(crate) const ROUTINGS: &[&str] = &[
    r#""static""#,
    r#""aodv""#,
    r#"{ kind = "aodv", ring = "always", hello = "50ms", errors = "precursors", sizes = "rfc" }"#,
    r#"{ kind = "aodv", feedback = false, lifetime = "100ms", ip_header = "20B" }"#,
    r#"{ kind = "dsdv", period = "100ms", first = "10ms", settling = "0s", triggered = "10ms", feedback = true }"#,
    r#"{ kind = "dsdv", period = "150ms", first = "5ms", settling = "1ms", buffer = "2p", largest = "60B" }"#,
];

/// Standard, band, width, streams, MCS and guard interval.
pub(crate) const MODES: &[[&str; 6]] = &[
    ["802.11n", "2.4GHz", "20MHz", "1", "7", "800ns"],
    ["802.11n", "5GHz", "40MHz", "2", "3", "400ns"],
    ["802.11n", "5GHz", "20MHz", "1", "0", "800ns"],
    ["802.11ac", "5GHz", "80MHz", "1", "9", "400ns"],
    ["802.11ac", "5GHz", "20MHz", "2", "4", "800ns"],
    ["802.11ax", "5GHz", "160MHz", "1", "11", "3200ns"],
    ["802.11ax", "2.4GHz", "20MHz", "2", "5", "1600ns"],
    ["802.11ax", "5GHz", "80MHz", "1", "0", "800ns"],
    ["802.11be", "6GHz", "320MHz", "2", "13", "800ns"],
    ["802.11be", "5GHz", "80MHz", "1", "4", "1600ns"],
];
pub(crate) const RATE_CONTROLS: &[&str] =
    &["\"ideal\"", "\"minstrel_ht\"", "\"aarf\"", "\"onoe\"", "\"thompson\"", "\"fixed\""];
/// Aggregates no wider than the request of their TXOP.
pub(crate) const NARROW: &[&str] = &[
    r#"{ request_width = "20MHz", missed = "request", attempts = "never" }"#,
    r#"{ request_width = "20MHz", missed = "request", window = 4 }"#,
];
pub(crate) const AMPDU: &[&str] = &[
    "{}",
    "{ mpdus = 1 }",
    "{ window = 1 }",
    "{ window = 8 }",
    r#"{ bytes = "6000B", attempts = 2 }"#,
    r#"{ window = 16, missed = "request", attempts = "never" }"#,
    r#"{ lifetime = "20ms", missed = "request" }"#,
    r#"{ mpdus = 3, window = 7, attempts = 1, lifetime = "5ms" }"#,
];
