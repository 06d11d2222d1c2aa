//! Addresses as users write them: `:8080`, `10.0.0.2:80`, `[::1]:80`, `example.org:80`, and networks like `10.0.0.0/8`.

use crate::Result;
use contend_core::Refusal;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

/// The addresses of `text`, a host with a port, in the order of the resolver.
///
/// # Errors
/// When the text has no port, or the name has no address.
pub fn resolve(text: &str) -> Result<Vec<SocketAddr>> {
    let example = "write a host and a port, like 10.0.0.2:80, [fe80::1]:80 or example.org:80";
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok_and(|p| p > 0) => {}
        _ => return Err(Refusal::new(format!("`{text}` is not a host with a port"), example)),
    }
    let found: Vec<SocketAddr> = text
        .to_socket_addrs()
        .map_err(|e| Refusal::new(format!("`{text}` cannot be resolved: {e}"), "check the name, or write its address"))?
        .collect();
    if found.is_empty() {
        return Err(Refusal::new(format!("`{text}` has no address"), example));
    }
    Ok(found)
}

/// The address on which to listen: `:8080` is port 8080 of 127.0.0.1 only.
///
/// # Errors
/// When the text is no address with a port. Port 0 lets the system choose.
pub fn listening(text: &str) -> Result<SocketAddr> {
    let whole = if text.starts_with(':') { format!("{}{text}", Ipv4Addr::LOCALHOST) } else { text.to_owned() };
    whole.parse().map_err(|_| {
        Refusal::new(
            format!("`{text}` is not an address on which to listen"),
            "write :8080 (this machine only), 0.0.0.0:8080, 192.168.1.5:8080 or [::]:8080",
        )
    })
}

/// An address with the length of its prefix: `10.0.0.0/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// Bits of the prefix.
    bits: u32,
}

impl Network {
    /// Every address of both families.
    pub fn any() -> [Network; 2] {
        [
            Network { address: Ipv4Addr::UNSPECIFIED.into(), bits: 0 },
            Network { address: Ipv6Addr::UNSPECIFIED.into(), bits: 0 },
        ]
    }

    /// Parses `10.0.0.0/8`, `fe80::/10` or `192.168.1.7`.
    ///
    /// # Errors
    /// When the text is neither an address nor a network.
    pub fn parse(text: &str) -> Result<Network> {
        let wrong = || {
            Refusal::new(
                format!("`{text}` is not a network"),
                "write an address like 192.168.1.7, a network like 192.168.1.0/24, or any",
            )
        };
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).ok().filter(|b| *b <= most).ok_or_else(wrong)?;
        Ok(Network { address, bits })
    }

    /// True if `address` lies in the network. IPv4 addresses mapped to IPv6 count as IPv4.
    pub fn has(self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros() >= self.bits,
            (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros() >= self.bits,
            _ => false,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_this_machine_only() {
        assert_eq!(listening(":8080").unwrap().to_string(), "127.0.0.1:8080");
        assert_eq!(listening("[::]:80").unwrap().to_string(), "[::]:80");
        for wrong in ["", "8080", "host:80", ":70000", "1.2.3.4"] {
            assert!(listening(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_target_has_a_host_and_a_port() {
        assert_eq!(resolve("[::1]:80").unwrap(), ["[::1]:80".parse().unwrap()]);
        for wrong in ["", ":80", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:http"] {
            assert!(resolve(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_network_has_the_addresses_of_its_prefix() {
        let of = |net: &str, a: &str| Network::parse(net).unwrap().has(a.parse().unwrap());
        assert!(of("10.0.0.0/8", "10.255.1.2") && !of("10.0.0.0/8", "11.0.0.0"));
        assert!(of("10.0.0.1", "10.0.0.1") && !of("10.0.0.1", "10.0.0.0"));
        assert!(of("10.0.0.0/8", "::ffff:10.1.1.1") && !of("0.0.0.0/0", "::1"));
        assert!(of("fe80::/10", "fe80::1") && !of("fe80::/10", "fec0::1"));
        assert!(Network::any().iter().any(|n| n.has("8.8.8.8".parse().unwrap())));
        for wrong in ["", "10.0.0.0/33", "a/8", "10.0.0.0/-1"] {
            assert!(Network::parse(wrong).is_err(), "{wrong}");
        }
    }
}
