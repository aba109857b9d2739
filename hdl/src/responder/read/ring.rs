// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ring of a QP's resources: what was accepted, what is to be served, what retire has released. Row item 3.
//!
//! ```text
//! oldest … [cursor … replay] [skipped] [unserved … [unreleased …] newest] │ next
//!            └────────────────────── due ──────────────────────────────┘
//! ```
//!
//! A duplicate is a replay of its own resource, no more: what lies between it and those that were never served is skipped. A duplicate of one of those
//! skipped makes the replay longer, up to it. Without a replay nothing is skipped.
//!
//! | bits | |
//! |---|---|
//! | [3:0] next | where the next request goes |
//! | [7:4] skipped | requests behind the replay that aren't to be served again |
//! | [12:8] due | places from the request being served to `next` |
//! | [17:13] unserved | of these, the newest that haven't been served to their end once (R59 counts them) |
//! | [22:18] unreleased | of these, the newest that retire has not released |
//! | [23] wrapped | every place of the ring holds a request |
//! | [24] active | the cursor's words in the row count, else the resource's own |
//! | [25] queued | the QP is in the turn queue |
//! | [26] held | an ACK waits behind the responses (R36) |
//! | [27] shut | a fatal NAK is on its way: nothing more begins |
//! | [28] owing | that NAK is our own: control and host are yet to be told |
//!
//! What is judged of the counts stands up to four cycles after they change (of `unreleased` one); the sequencer asks later.
//!
//! The QP is busy while `due` and `unreleased` differ. `RA` is log2 of the longest ring, `RC` one more.

use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct ResourceRing<const RA: usize, const RC: usize> {
    pub clock: Signal<In, Clock>,
    pub load: Signal<In, Bit>,
    pub word: Signal<In, Bits<32>>,
    /// Places of the ring, at most 2^RA.
    pub places: Signal<In, Bits<RC>>,
    /// A new request: `next` moves on. A replay that it overwrites ends: the peer has what it asks for no longer.
    pub accept: Signal<In, Bit>,
    /// A request is refused whose words stand at `next` already: what stood there is gone, and a replay of it ends.
    pub discard: Signal<In, Bit>,
    /// The cursor's request is served to its end.
    pub finish: Signal<In, Bit>,
    /// The cursor's words count.
    pub advance: Signal<In, Bit>,
    pub released: Signal<In, Bit>,
    /// A duplicate: the cursor goes back to where the search stands, or the replay goes on to there.
    pub back: Signal<In, Bit>,
    pub back_active: Signal<In, Bit>,
    pub hold: Signal<In, Bit>,
    pub drop_held: Signal<In, Bit>,
    /// Forgets everything but `queued`.
    pub clear: Signal<In, Bit>,
    pub shut_now: Signal<In, Bit>,
    pub owe: Signal<In, Bit>,
    /// The QP has been taken from the turn queue.
    pub popped: Signal<In, Bit>,
    /// Search: from the newest backwards.
    pub search_start: Signal<In, Bit>,
    pub search_step: Signal<In, Bit>,
    /// None is left.
    pub exhausted: Signal<Out, Bit>,
    /// The one found is still to be served as it is.
    pub pending: Signal<Out, Bit>,
    /// It is skipped, and will be served with the replay that runs.
    pub prolongs: Signal<Out, Bit>,
    /// The place looked at: `next` for a new request, the cursor in a turn, the search's in a search.
    pub turn: Signal<In, Bit>,
    pub searching: Signal<In, Bit>,
    pub place: Signal<Out, Bits<RA>>,
    pub full: Signal<Out, Bit>,
    pub busy: Signal<Out, Bit>,
    pub replay: Signal<Out, Bit>,
    pub active: Signal<Out, Bit>,
    pub held: Signal<Out, Bit>,
    pub shut: Signal<Out, Bit>,
    pub owing: Signal<Out, Bit>,
    /// To be put into the turn queue.
    pub push: Signal<Out, Bit>,
    pub queued_after: Signal<Out, Bit>,
    pub packed_word: Signal<Out, Bits<32>>,
    next_place: DFF<Bits<RA>>,
    skipped: DFF<Bits<RA>>,
    due: DFF<Bits<RC>>,
    unserved: DFF<Bits<RC>>,
    unreleased: DFF<Bits<RC>>,
    wrapped: DFF<Bit>,
    active_kept: DFF<Bit>,
    queued: DFF<Bit>,
    held_kept: DFF<Bit>,
    shut_kept: DFF<Bit>,
    owing_kept: DFF<Bit>,
    search: DFF<Bits<RA>>,
    seen: DFF<Bits<RC>>,
    /// Those behind the replay.
    unreplayed: DFF<Bits<RC>>,
    /// Of the replay's requests, one is left, or none.
    left_one: DFF<Bit>,
    left_none: DFF<Bit>,
    /// The search's place is among those skipped; it is still to be served.
    prolongs_kept: DFF<Bit>,
    pending_kept: DFF<Bit>,
    /// The search's place is behind those never served; what a replay of it, alone, skips.
    above: DFF<Bit>,
    beyond: DFF<Bits<RC>>,
    exhausted_kept: DFF<Bit>,
    /// Every place of the ring is due.
    all_due: DFF<Bit>,
    /// What `due` becomes when a request is served, accepted, refused; what `unreleased` becomes, if it may.
    due_finished: DFF<Bits<RC>>,
    due_accepted: DFF<Bits<RC>>,
    due_discarded: DFF<Bits<RC>>,
    unreleased_less: DFF<Bits<RC>>,
    may_release: DFF<Bit>,
    /// `next` less `due`, and whether that is below the ring's first place.
    behind: DFF<Bits<RC>>,
    below: DFF<Bit>,
    last_wide: Signal<Local, Bits<RC>>,
    last: Signal<Local, Bits<RA>>,
    next_after: Signal<Local, Bits<RA>>,
    next_wide: Signal<Local, Bits<RC>>,
    cursor_wide: Signal<Local, Bits<RC>>,
    left: Signal<Local, Bits<RC>>,
    prolongs_now: Signal<Local, Bit>,
    busy_now: Signal<Local, Bit>,
    queued_now: Signal<Local, Bit>,
    flags: Signal<Local, Bits<6>>,
}

impl<const RA: usize, const RC: usize> Logic for ResourceRing<RA, RC> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            next_place,
            skipped,
            due,
            unserved,
            unreleased,
            wrapped,
            active_kept,
            queued,
            held_kept,
            shut_kept,
            owing_kept,
            search,
            seen,
            behind,
            below,
            unreplayed,
            left_one,
            left_none,
            prolongs_kept,
            above,
            beyond,
            all_due,
            pending_kept,
            due_finished,
            due_accepted,
            due_discarded,
            unreleased_less,
            may_release,
            exhausted_kept
        );
        self.last_wide.next = self.places.val() - 1;
        self.last.next = self.last_wide.val().get_bits::<RA>(0);
        self.next_after.next = self.next_place.q.val() + 1;
        if self.next_place.q.val() == self.last.val() {
            self.next_after.next = 0.into();
        }
        self.next_wide.next = bit_cast::<RC, RA>(self.next_place.q.val());
        self.behind.d.next = self.next_wide.val() - self.due.q.val();
        self.below.d.next = self.next_wide.val() < self.due.q.val();
        self.cursor_wide.next = self.behind.q.val();
        if self.below.q.val() {
            self.cursor_wide.next = self.behind.q.val() + self.places.val();
        }
        // Those behind the replay, and those of the replay.
        self.unreplayed.d.next = self.unserved.q.val() + bit_cast::<RC, RA>(self.skipped.q.val());
        self.left.next = self.due.q.val() - self.unreplayed.q.val();
        self.left_one.d.next = self.left.val() == 1;
        self.left_none.d.next = !self.left.val().any();
        self.all_due.d.next = self.due.q.val() == self.places.val();
        self.due_finished.d.next = self.due.q.val() - 1;
        self.due_accepted.d.next = self.due.q.val() + 1;
        self.due_discarded.d.next = self.due.q.val();
        if self.all_due.q.val() {
            self.due_accepted.d.next = self.due.q.val();
            self.due_discarded.d.next = self.due.q.val() - 1;
            if self.left_one.q.val() {
                self.due_accepted.d.next = self.unserved.q.val() + 1;
                self.due_discarded.d.next = self.unserved.q.val();
            }
        }
        if self.left_one.q.val() {
            self.due_finished.d.next = self.unserved.q.val();
        }
        self.unreleased_less.d.next = self.unreleased.q.val() - 1;
        self.may_release.d.next = !self.shut_kept.q.val() & self.unreleased.q.val().any();
        self.above.d.next = self.seen.q.val() > self.unserved.q.val();
        self.beyond.d.next = self.seen.q.val() - self.unserved.q.val() - 1;
        self.prolongs_now.next = self.above.q.val() & (self.seen.q.val() <= self.unreplayed.q.val());
        self.busy_now.next = self.due.q.val() != self.unreleased.q.val();
        self.full.next = self.unserved.q.val() == self.places.val();
        self.replay.next = self.unserved.q.val() != self.due.q.val();

        if self.load.val() {
            self.next_place.d.next = self.word.val().get_bits::<RA>(0);
            self.skipped.d.next = self.word.val().get_bits::<RA>(4);
            self.due.d.next = self.word.val().get_bits::<RC>(8);
            self.unserved.d.next = self.word.val().get_bits::<RC>(13);
            self.unreleased.d.next = self.word.val().get_bits::<RC>(18);
            self.wrapped.d.next = self.word.val().get_bit(23);
            self.active_kept.d.next = self.word.val().get_bit(24);
            self.queued.d.next = self.word.val().get_bit(25);
            self.held_kept.d.next = self.word.val().get_bit(26);
            self.shut_kept.d.next = self.word.val().get_bit(27);
            self.owing_kept.d.next = self.word.val().get_bit(28);
        }
        if self.accept.val() {
            self.next_place.d.next = self.next_after.val();
            self.wrapped.d.next = self.wrapped.q.val() | (self.next_place.q.val() == self.last.val());
            self.unserved.d.next = self.unserved.q.val() + 1;
            self.unreleased.d.next = self.unreleased.q.val() + 1;
            self.due.d.next = self.due_accepted.q.val();
        }
        if self.accept.val() & self.all_due.q.val() {
            self.active_kept.d.next = false;
            if self.left_one.q.val() {
                self.skipped.d.next = 0.into();
            }
        }
        if self.discard.val() {
            self.due.d.next = self.due_discarded.q.val();
        }
        if self.discard.val() & self.all_due.q.val() {
            self.active_kept.d.next = false;
            if self.left_one.q.val() {
                self.skipped.d.next = 0.into();
            }
        }
        if self.finish.val() {
            self.active_kept.d.next = false;
            self.due.d.next = self.due_finished.q.val();
            if self.left_one.q.val() {
                self.skipped.d.next = 0.into();
            }
            if self.left_none.q.val() {
                self.unserved.d.next = self.unserved.q.val() - 1;
            }
        }
        if self.advance.val() {
            self.active_kept.d.next = true;
        }
        if self.released.val() & self.may_release.q.val() {
            self.unreleased.d.next = self.unreleased_less.q.val();
            // The response answers what was before it (R35).
            self.held_kept.d.next = false;
        }
        if self.back.val() {
            if self.prolongs_kept.q.val() {
                self.skipped.d.next = self.beyond.q.val().get_bits::<RA>(0);
            } else {
                self.due.d.next = self.seen.q.val();
                self.active_kept.d.next = self.back_active.val();
                if self.left_none.q.val() & self.above.q.val() {
                    self.skipped.d.next = self.beyond.q.val().get_bits::<RA>(0);
                }
            }
        }
        if self.hold.val() {
            self.held_kept.d.next = true;
        }
        if self.drop_held.val() {
            self.held_kept.d.next = false;
            self.owing_kept.d.next = false;
        }
        if self.clear.val() {
            self.next_place.d.next = 0.into();
            self.skipped.d.next = 0.into();
            self.due.d.next = 0.into();
            self.unserved.d.next = 0.into();
            self.unreleased.d.next = 0.into();
            self.wrapped.d.next = false;
            self.active_kept.d.next = false;
            self.held_kept.d.next = false;
            self.shut_kept.d.next = false;
            self.owing_kept.d.next = false;
        }
        if self.owe.val() {
            self.owing_kept.d.next = true;
        }
        if self.shut_now.val() {
            self.shut_kept.d.next = true;
        }

        // Search.
        self.exhausted.next = self.exhausted_kept.q.val();
        self.exhausted_kept.d.next =
            (!self.search.q.val().any() & !self.wrapped.q.val()) | (self.seen.q.val() == self.places.val()) | !self.places.val().any();
        self.pending_kept.d.next =
            ((self.seen.q.val() < self.due.q.val()) & !self.prolongs_kept.q.val()) | (self.seen.q.val() <= self.unreleased.q.val());
        self.prolongs_kept.d.next = self.prolongs_now.val();
        self.pending.next = self.pending_kept.q.val();
        self.prolongs.next = self.prolongs_kept.q.val();
        if self.search_start.val() {
            self.search.d.next = self.next_place.q.val();
            self.seen.d.next = 0.into();
        }
        if self.search_step.val() {
            self.search.d.next = self.search.q.val() - 1;
            if !self.search.q.val().any() {
                self.search.d.next = self.last.val();
            }
            self.seen.d.next = self.seen.q.val() + 1;
        }
        self.place.next = self.next_place.q.val();
        if self.turn.val() {
            self.place.next = self.cursor_wide.val().get_bits::<RA>(0);
        }
        if self.searching.val() {
            self.place.next = self.search.q.val();
        }

        self.busy.next = self.busy_now.val();
        self.active.next = self.active_kept.q.val();
        self.held.next = self.held_kept.q.val();
        self.shut.next = self.shut_kept.q.val();
        self.owing.next = self.owing_kept.q.val();
        self.push.next = (self.busy_now.val() | self.owing_kept.q.val()) & (!self.queued.q.val() | self.popped.val());
        self.queued_now.next = self.busy_now.val() | self.owing_kept.q.val() | (self.queued.q.val() & !self.popped.val());
        self.queued_after.next = self.queued_now.val();
        self.flags.next = bit_cast::<6, 1>(self.wrapped.q.val().into())
            | (bit_cast::<6, 1>(self.active_kept.q.val().into()) << 1)
            | (bit_cast::<6, 1>(self.queued_now.val().into()) << 2)
            | (bit_cast::<6, 1>(self.held_kept.q.val().into()) << 3)
            | (bit_cast::<6, 1>(self.shut_kept.q.val().into()) << 4)
            | (bit_cast::<6, 1>(self.owing_kept.q.val().into()) << 5);
        self.packed_word.next = bit_cast::<32, RA>(self.next_place.q.val())
            | (bit_cast::<32, RA>(self.skipped.q.val()) << 4)
            | (bit_cast::<32, RC>(self.due.q.val()) << 8)
            | (bit_cast::<32, RC>(self.unserved.q.val()) << 13)
            | (bit_cast::<32, RC>(self.unreleased.q.val()) << 18)
            | (bit_cast::<32, 6>(self.flags.val()) << 23);
    }

    crate::block_name!("Ring of a QP's READ and ATOMIC resources.");
}
