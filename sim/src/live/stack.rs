// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's ordinary Ethernet, on smoltcp: answers ARP, neighbour solicitations and pings, and learns who has which address.

use serde::Serialize;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, HardwareAddress, Icmpv6Packet,
    Icmpv6Repr, IpAddress, IpCidr, IpProtocol, Ipv6Address, Ipv6Packet, NdiscRepr, RawHardwareAddress,
};
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use verbena_verbs::Mac;

/// What the host's side has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HostStatistics {
    /// Frames that the engine gave to the host.
    pub frames_in: u64,
    pub frames_out: u64,
    /// ARP requests of ours.
    pub arp_requests: u64,
    /// Changes of what is known about neighbours.
    pub learned: u64,
}

/// Most neighbours that are remembered: whoever invents more addresses makes us forget all.
const NEIGHBOURS: usize = 1024;
/// Largest IP packet that the host side sends or takes.
const MTU: usize = 9000;

pub(super) struct HostStack {
    mac: Mac,
    ip: Ipv4Addr,
    interface: Interface,
    sockets: SocketSet<'static>,
    port: Port,
    neighbours: HashMap<IpAddr, Mac>,
    pub statistics: HostStatistics,
}

/// The link-local address that is made of a MAC (RFC 4291, appendix A).
pub fn link_local(mac: Mac) -> Ipv6Addr {
    let word = |a: u8, b: u8| u16::from_be_bytes([a, b]);
    let tail = [
        word(mac[0] ^ 2, mac[1]),
        word(mac[2], 0xff),
        word(0xfe, mac[3]),
        word(mac[4], mac[5]),
    ];
    Ipv6Addr::new(0xfe80, 0, 0, 0, tail[0], tail[1], tail[2], tail[3])
}

impl HostStack {
    pub fn new(mac: Mac, ip: Ipv4Addr, prefix: u8, seed: u64) -> HostStack {
        let mut config = Config::new(HardwareAddress::Ethernet(EthernetAddress(mac)));
        config.random_seed = seed;
        let mut port = Port::default();
        let mut interface = Interface::new(config, &mut port, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            // The table has room for two.
            let _ = addresses.push(IpCidr::new(IpAddress::Ipv4(ip), prefix));
            let _ = addresses.push(IpCidr::new(IpAddress::Ipv6(link_local(mac)), 64));
        });
        HostStack {
            mac,
            ip,
            interface,
            sockets: SocketSet::new(vec![]),
            port,
            neighbours: HashMap::new(),
            statistics: HostStatistics::default(),
        }
    }

    /// A frame that the engine gave to the host.
    pub fn receive(&mut self, frame: Vec<u8>) {
        self.statistics.frames_in += 1;
        if let Some((address, mac)) = neighbour(&frame) {
            if self.neighbours.len() >= NEIGHBOURS {
                self.neighbours.clear();
            }
            if self.neighbours.insert(address, mac) != Some(mac) {
                self.statistics.learned += 1;
            }
        }
        self.port.incoming.push_back(frame);
    }

    /// Answers what has come; microseconds since the start.
    pub fn poll(&mut self, micros: i64) {
        if !self.port.incoming.is_empty() {
            self.interface.poll(Instant::from_micros(micros), &mut self.port, &mut self.sockets);
        }
    }

    /// The next frame that the host sends.
    pub fn transmit(&mut self) -> Option<Vec<u8>> {
        let frame = self.port.outgoing.pop_front()?;
        self.statistics.frames_out += 1;
        Some(frame)
    }

    /// Who has that address, as far as is known.
    pub fn lookup(&self, address: IpAddr) -> Option<Mac> {
        self.neighbours.get(&address).copied()
    }

    /// Forgets a neighbour, so that it is asked for again.
    pub fn forget(&mut self, address: IpAddr) {
        self.neighbours.remove(&address);
    }

    /// Asks everybody who has `address`.
    pub fn ask(&mut self, address: Ipv4Addr) {
        let arp = ArpRepr::EthernetIpv4 {
            operation: ArpOperation::Request,
            source_hardware_addr: EthernetAddress(self.mac),
            source_protocol_addr: self.ip,
            target_hardware_addr: EthernetAddress([0; 6]),
            target_protocol_addr: address,
        };
        let ethernet = EthernetRepr {
            src_addr: EthernetAddress(self.mac),
            dst_addr: EthernetAddress::BROADCAST,
            ethertype: EthernetProtocol::Arp,
        };
        let mut bytes = vec![0; ethernet.buffer_len() + arp.buffer_len()];
        let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
        ethernet.emit(&mut frame);
        arp.emit(&mut ArpPacket::new_unchecked(frame.payload_mut()));
        self.statistics.arp_requests += 1;
        self.port.outgoing.push_back(bytes);
    }
}

/// The neighbour that an ARP packet or a neighbour advertisement or solicitation tells of.
fn neighbour(frame: &[u8]) -> Option<(IpAddr, Mac)> {
    let frame = EthernetFrame::new_checked(frame).ok()?;
    match frame.ethertype() {
        EthernetProtocol::Arp => {
            let ArpRepr::EthernetIpv4 {
                source_hardware_addr: mac,
                source_protocol_addr: ip,
                ..
            } = ArpRepr::parse(&ArpPacket::new_checked(frame.payload()).ok()?).ok()?
            else {
                return None;
            };
            (mac.is_unicast() && !ip.is_unspecified()).then_some((IpAddr::V4(ip), mac.0))
        }
        EthernetProtocol::Ipv6 => {
            let ip = Ipv6Packet::new_checked(frame.payload()).ok()?;
            if ip.next_header() != IpProtocol::Icmpv6 {
                return None;
            }
            let source: Ipv6Address = ip.src_addr();
            let packet = Icmpv6Packet::new_checked(ip.payload()).ok()?;
            let Icmpv6Repr::Ndisc(said) = Icmpv6Repr::parse(&source, &ip.dst_addr(), &packet, &Default::default()).ok()? else {
                return None;
            };
            let (address, mac): (Ipv6Address, RawHardwareAddress) = match said {
                NdiscRepr::NeighborAdvert {
                    target_addr,
                    lladdr: Some(mac),
                    ..
                } => (target_addr, mac),
                NdiscRepr::NeighborSolicit { lladdr: Some(mac), .. } if !source.is_unspecified() => (source, mac),
                _ => return None,
            };
            Some((IpAddr::V6(address), mac.as_bytes().try_into().ok()?))
        }
        _ => None,
    }
}

/// Two queues as smoltcp's device.
#[derive(Default)]
struct Port {
    incoming: VecDeque<Vec<u8>>,
    outgoing: VecDeque<Vec<u8>>,
}

impl Device for Port {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sender<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sender<'_>)> {
        let frame = self.incoming.pop_front()?;
        Some((Received(frame), Sender(&mut self.outgoing)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sender<'_>> {
        Some(Sender(&mut self.outgoing))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = MTU + 14;
        capabilities
    }
}

struct Received(Vec<u8>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

struct Sender<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Sender<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let mut frame = vec![0; length];
        let result = f(&mut frame);
        self.0.push_back(frame);
        result
    }
}
