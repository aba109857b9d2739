// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two managers with a wire between them that loses what the test says.

use verbena_cm::{Accept, Cm, CmOptions, Connect, Event, Gid, Id, Mad, Message, Mra, Reason};

const GIDS: [Gid; 2] = [[1; 16], [2; 16]];
const SERVICE: u64 = 0x0106_1c06;
/// ns of the timeout code that the managers have.
const TIMEOUT: u64 = 4096 << 10;

struct World {
    cms: [Cm; 2],
    now: u64,
    /// Names of all that was said.
    said: Vec<String>,
    /// Positions in `said` that are lost.
    lost: fn(usize, &str) -> bool,
}

impl World {
    fn new(lost: fn(usize, &str) -> bool) -> World {
        let cm = |n: usize| {
            Cm::new(CmOptions {
                response_timeout: 10,
                retries: 4,
                ..CmOptions::new(GIDS[n], 7 + n as u64, 100 * (n as u32 + 1))
            })
        };
        World {
            cms: [cm(0), cm(1)],
            now: 0,
            said: vec![],
            lost,
        }
    }

    /// Carries MADs until nothing is under way.
    fn carry(&mut self) {
        while let Some((from, out)) = (0..2).find_map(|n| self.cms[n].transmit().map(|out| (n, out))) {
            let name = format!("{}{}", ["a:", "p:"][from], out.mad.message.name());
            let lost = (self.lost)(self.said.len(), &name);
            self.said.push(name);
            let to = GIDS.iter().position(|gid| *gid == out.to).unwrap();
            if !lost {
                self.cms[to].receive(self.now, GIDS[from], &out.mad.to_bytes());
            }
        }
    }

    /// Time goes on by one timeout.
    fn tick(&mut self) {
        self.now += TIMEOUT;
        self.cms.iter_mut().for_each(|cm| cm.advance(self.now));
        self.carry();
    }

    fn connect(&mut self) -> Id {
        let id = self.cms[0].connect(&connect()).unwrap();
        self.carry();
        id
    }

    fn request(&mut self) -> Id {
        match self.cms[1].event() {
            Some(Event::Request { id, req }) => {
                assert_eq!((req.local_qpn, req.starting_psn, req.private[0]), (0x2a, 0x11, 9));
                id
            }
            other => panic!("{other:?}"),
        }
    }

    fn reply(&mut self) -> Id {
        match self.cms[0].event() {
            Some(Event::Reply { id, rep }) => {
                assert_eq!((rep.local_qpn, rep.starting_psn), (0x2b, 0x22));
                id
            }
            other => panic!("{other:?}"),
        }
    }

    /// Both sides up to Established.
    fn establish(&mut self) -> [Id; 2] {
        self.cms[1].listen(SERVICE);
        let active = self.connect();
        let passive = self.request();
        self.cms[1].accept(passive, &accept()).unwrap();
        self.carry();
        assert_eq!(self.reply(), active);
        self.cms[0].ready(active).unwrap();
        self.carry();
        assert_eq!(self.cms[1].event(), Some(Event::Established { id: passive }));
        [active, passive]
    }
}

fn connect() -> Connect {
    Connect {
        peer: GIDS[1],
        service: SERVICE,
        transport: 0,
        qpn: 0x2a,
        psn: 0x11,
        path_mtu: 3,
        responder_resources: 1,
        initiator_depth: 1,
        retry_count: 7,
        rnr_retry: 7,
        ack_timeout: 14,
        private: vec![9; 36],
    }
}

fn accept() -> Accept {
    Accept {
        qpn: 0x2b,
        psn: 0x22,
        responder_resources: 1,
        initiator_depth: 1,
        rnr_retry: 7,
        private: vec![],
    }
}

#[test]
fn a_connection_comes_and_goes() {
    let mut world = World::new(|_, _| false);
    let [active, passive] = world.establish();
    world.cms[0].disconnect(active).unwrap();
    world.carry();
    assert_eq!(world.cms[0].event(), Some(Event::Disconnected { id: active }));
    assert_eq!(world.cms[1].event(), Some(Event::Disconnected { id: passive }));
    assert_eq!(world.said, ["a:REQ", "p:REP", "a:RTU", "a:DREQ", "p:DREP"]);
    assert_eq!([world.cms[0].live(), world.cms[1].live()], [0, 0]);
    // What is remembered is forgotten, too.
    (0..3).for_each(|_| world.tick());
    assert_eq!([world.cms[0].next_deadline(), world.cms[1].next_deadline()], [None, None]);
    assert!(world.cms[0].disconnect(active).is_err());
}

#[test]
fn each_message_may_be_lost_once() {
    for lost in [
        (|n, name| n == 0 && name == "a:REQ") as fn(usize, &str) -> bool,
        |n, name| n == 1 && name == "p:REP",
        |n, name| n == 2 && name == "a:RTU",
        |n, name| n == 3 && name == "a:DREQ",
        |n, name| n == 4 && name == "p:DREP",
    ] {
        let mut world = World::new(lost);
        world.cms[1].listen(SERVICE);
        let active = world.connect();
        let (mut ended, mut established) = ([false; 2], false);
        for _ in 0..10 {
            while let Some((side, event)) = (0..2).find_map(|side| world.cms[side].event().map(|event| (side, event))) {
                match event {
                    Event::Request { id, .. } => world.cms[1].accept(id, &accept()).unwrap(),
                    Event::Reply { id, .. } => world.cms[0].ready(id).unwrap(),
                    Event::Established { .. } => {
                        assert!(!established, "only once");
                        established = true;
                        world.cms[0].disconnect(active).unwrap();
                    }
                    Event::Disconnected { .. } => {
                        assert!(!ended[side], "only once");
                        ended[side] = true;
                    }
                    other => panic!("{other:?}"),
                }
                world.carry();
            }
            world.tick();
        }
        assert_eq!((established, ended), (true, [true; 2]), "{:?}", world.said);
        let again: u64 = world.cms.iter().map(|cm| cm.statistics().sent_again).sum();
        // For a lost REP both sides have something that waits.
        assert!((1..=2).contains(&again), "{:?}", world.said);
    }
}

#[test]
fn nobody_listens() {
    let mut world = World::new(|_, _| false);
    let id = world.connect();
    let reason = Reason::INVALID_SERVICE_ID;
    assert!(matches!(world.cms[0].event(), Some(Event::Rejected { id: i, reason: r, .. }) if (i, r) == (id, reason)));
    assert_eq!((world.said.len(), world.cms[0].next_deadline()), (2, None));
}

#[test]
fn a_program_refuses_with_its_reasons() {
    let mut world = World::new(|_, _| false);
    world.cms[1].listen(SERVICE);
    world.connect();
    let passive = world.request();
    assert!(world.cms[1].reject(passive, Reason::CONSUMER, &[0; 149]).is_err());
    world.cms[1].reject(passive, Reason::CONSUMER, b"busy").unwrap();
    world.carry();
    match world.cms[0].event() {
        Some(Event::Rejected { reason, private, .. }) => assert_eq!((reason, &private[..4]), (Reason::CONSUMER, &b"busy"[..])),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nobody_is_there() {
    let mut world = World::new(|_, _| true);
    let id = world.connect();
    (0..5).for_each(|_| world.tick());
    assert_eq!(world.cms[0].event(), Some(Event::Unreachable { id, sent: "REQ" }));
    assert_eq!(world.said, ["a:REQ", "a:REQ", "a:REQ", "a:REQ", "a:REQ", "a:REJ"]);
    assert_eq!(world.cms[0].live(), 0);
}

/// The active side dies behind its REQ.
#[test]
fn a_half_open_connection_times_out() {
    let mut world = World::new(|n, _| n > 0);
    world.cms[1].listen(SERVICE);
    world.connect();
    let passive = world.request();
    world.cms[1].accept(passive, &accept()).unwrap();
    (0..6).for_each(|_| world.tick());
    assert_eq!(world.cms[1].event(), Some(Event::Unreachable { id: passive, sent: "REP" }));
    assert_eq!(world.cms[1].live(), 0);
}

/// A peer that no longer answers is let go.
#[test]
fn a_dreq_without_answer_ends_too() {
    let mut world = World::new(|n, _| n > 2);
    let [active, _] = world.establish();
    world.cms[0].disconnect(active).unwrap();
    (0..6).for_each(|_| world.tick());
    assert_eq!(world.cms[0].event(), Some(Event::Disconnected { id: active }));
}

/// The peer has started again and comes with a QP that we are still connected with.
#[test]
fn a_stale_connection_is_dropped_and_the_next_request_accepted() {
    let mut world = World::new(|_, _| false);
    let [_, passive] = world.establish();
    world.cms[0] = Cm::new(CmOptions::new(GIDS[0], 7, 900));
    let id = world.connect();
    assert_eq!(world.cms[1].event(), Some(Event::Disconnected { id: passive }));
    assert!(matches!(world.cms[0].event(), Some(Event::Rejected { id: i, reason: Reason::STALE, .. }) if i == id));
    world.connect();
    world.request();
}

#[test]
fn mra_stretches_the_wait() {
    let mut world = World::new(|_, name| name.starts_with("a:REQ"));
    let id = world.connect();
    let Some(Message::Req(req)) = None::<Message>.or_else(|| {
        // The REQ that was lost, as the peer would have had it.
        let mut probe = Cm::new(CmOptions::new(GIDS[0], 7, 100));
        probe.connect(&connect()).unwrap();
        probe.transmit().map(|out| out.mad.message)
    }) else {
        panic!()
    };
    let mra = Mra {
        local_id: 1,
        remote_id: req.local_id,
        about: verbena_cm::About::Req,
        service_timeout: 13,
        private: [0; 222],
    };
    let mad = Mad {
        transaction: 0,
        message: Message::Mra(Box::new(mra)),
    };
    world.cms[0].receive(0, GIDS[1], &mad.to_bytes());
    assert_eq!(world.cms[0].next_deadline(), Some(TIMEOUT + (4096 << 13)));
    (0..8).for_each(|_| world.tick());
    assert_eq!((world.said.len(), world.cms[0].event()), (1, None));
    world.tick();
    assert_eq!(world.said.len(), 2);
    assert_eq!(world.cms[0].live(), 1, "{id:?}");
}

#[test]
fn strangers_change_nothing() {
    let mut world = World::new(|_, _| false);
    let [active, passive] = world.establish();
    let stranger = [3; 16];
    for (side, id) in [(0, active), (1, passive)] {
        let mut captured = vec![];
        world.cms[side].disconnect(id).unwrap();
        while let Some(out) = world.cms[side].transmit() {
            captured.push(out.mad.to_bytes());
        }
        let before = world.cms[1 - side].live();
        // The right words from the wrong address, and noise from the right one.
        world.cms[1 - side].receive(world.now, stranger, &captured[0]);
        world.cms[1 - side].receive(world.now, GIDS[side], &[0; 256]);
        world.cms[1 - side].receive(world.now, GIDS[side], &captured[0][..255]);
        assert_eq!((world.cms[1 - side].live(), world.cms[1 - side].event()), (before, None));
        assert_eq!(world.cms[1 - side].statistics().malformed, 2);
        while world.cms[1 - side].transmit().is_some() {}
        if side == 0 {
            world = World::new(|_, _| false);
            world.establish();
        }
    }
}

/// Any bytes at all leave the manager able to go on.
#[test]
fn any_bytes() {
    let mut world = World::new(|_, _| false);
    world.cms[1].listen(SERVICE);
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as u8
    };
    let mut seed = [0u8; 256];
    seed[..24].copy_from_slice(&[1, 7, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0x10, 0, 0, 0, 0, 0, 0]);
    for _ in 0..20_000 {
        let mut bytes = seed;
        bytes[17] = 0x10 + random() % 10;
        for _ in 0..random() % 40 {
            bytes[24 + usize::from(random()) % 232] = random();
        }
        if random() % 8 == 0 {
            bytes[usize::from(random())] ^= 1 << (random() % 8);
        }
        world.now += 1000;
        world.cms[1].receive(world.now, GIDS[usize::from(random() % 2)], &bytes);
        while world.cms[1].transmit().is_some() {}
        while world.cms[1].event().is_some() {}
    }
    let mut cms = World::new(|_, _| false);
    std::mem::swap(&mut cms.cms[1], &mut world.cms[1]);
    cms.now = world.now;
    cms.cms[0].advance(cms.now);
    cms.establish();
}
