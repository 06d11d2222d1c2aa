//! `struct tcp_info` of Linux, as far as this kernel has it (`include/uapi/linux/tcp.h`).

/// What the kernel knows of a TCP sender. A field that the kernel does not have is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// State of the connection: 1 established, ... (`TCP_ESTABLISHED`, ...).
    pub state: u8,
    /// State of the congestion control: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    pub ca_state: u8,
    /// Retransmission timeout, in microseconds.
    pub rto_us: u32,
    /// Largest segment sent, in bytes.
    pub mss: u32,
    /// Segments that are sent and not acknowledged.
    pub unacked: u32,
    /// Segments that SACK says arrived.
    pub sacked: u32,
    /// Segments held for lost.
    pub lost: u32,
    /// Milliseconds since data was sent last.
    pub since_sent_ms: u32,
    /// Milliseconds since an acknowledgment came last.
    pub since_ack_ms: u32,
    /// Smoothed round-trip time, in microseconds.
    pub rtt_us: u32,
    /// Its mean deviation, in microseconds.
    pub rttvar_us: u32,
    /// Slow-start threshold, in segments; 2^31 - 1: none yet.
    pub ssthresh: u32,
    /// Congestion window, in segments.
    pub cwnd: u32,
    /// Retransmissions since the connection began.
    pub retransmitted: u32,
    /// Pacing rate, in bytes per second.
    pub pacing: u64,
    /// Bytes acknowledged since the connection began.
    pub bytes_acked: u64,
    /// Bytes received in order since the connection began.
    pub bytes_received: u64,
    /// Segments received, with those without data.
    pub segments_in: u32,
    /// Segments with data that were sent, with retransmissions.
    pub data_segments_out: u32,
    /// Rate at which data was delivered, in bytes per second.
    pub delivery_rate: u64,
    /// Segments that were delivered.
    pub delivered: u32,
    /// Those of them that were marked with congestion experienced.
    pub delivered_ce: u32,
    /// Bytes sent since the connection began, with retransmissions.
    pub bytes_sent: u64,
    /// Retransmission timeouts since the connection began; `None` before Linux 6.7.
    pub timeouts: Option<u16>,
}

/// Bytes up to the end of the field for timeouts.
pub const LENGTH: usize = 248;

impl TcpInfo {
    /// Reads the kernel's struct, which may be shorter or longer than ours.
    pub fn read(bytes: &[u8]) -> TcpInfo {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let four = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes);
        let eight = |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes);
        let two = |at: usize| bytes.get(at..at + 2).and_then(|b| b.try_into().ok()).map(u16::from_ne_bytes);
        TcpInfo {
            state: byte(0),
            ca_state: byte(1),
            rto_us: four(8),
            mss: four(16),
            unacked: four(24),
            sacked: four(28),
            lost: four(32),
            since_sent_ms: four(44),
            since_ack_ms: four(56),
            rtt_us: four(68),
            rttvar_us: four(72),
            ssthresh: four(76),
            cwnd: four(80),
            retransmitted: four(100),
            pacing: eight(104),
            bytes_acked: eight(120),
            bytes_received: eight(128),
            segments_in: four(140),
            data_segments_out: four(156),
            delivery_rate: eight(160),
            delivered: four(192),
            delivered_ce: four(196),
            bytes_sent: eight(200),
            timeouts: two(240),
        }
    }
}
