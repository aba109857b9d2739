// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control: CNPs for marked packets (R76), and a rate limiter for the requests of a QP that gets them.
//!
//! The limiter is DCQCN's reaction point (Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 3.1):
//! ```text
//!  CNP: target = rate; rate -= rate * alpha / 2; alpha += (1 - alpha) / 2^gain_shift
//!  every alpha_time without one: alpha -= alpha / 2^gain_shift
//!  every rate_time, every rate_bytes: rate = (target + rate) / 2,
//!      and before that, once one of the two came more than fast_steps times, target += additive; once both, target += hyper
//! ```

/// Parameters, as `verbena_spec::layout::congestion` has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Congestion {
    /// CNPs are sent for marked packets.
    pub notify: bool,
    /// CNPs slow the QP they are for.
    pub react: bool,
    /// Shortest time between two CNPs of a flow, us (R76).
    pub cnp_interval: u8,
    /// Mb/s.
    pub min_rate: u16,
    pub line_rate: u16,
    pub additive: u16,
    pub hyper: u16,
    /// us.
    pub alpha_time: u16,
    pub rate_time: u16,
    pub fast_steps: u8,
    pub gain_shift: u8,
    /// KiB.
    pub rate_bytes: u32,
}

impl Default for Congestion {
    /// Off; the other figures are the paper's, for 10 Gb/s.
    fn default() -> Self {
        Self {
            notify: false,
            react: false,
            cnp_interval: 50,
            min_rate: 10,
            line_rate: 10_000,
            additive: 40,
            hyper: 200,
            alpha_time: 55,
            rate_time: 55,
            fast_steps: 5,
            gain_shift: 8,
            rate_bytes: 10 << 10,
        }
    }
}

/// Alpha is a fraction of this.
const ONE: u32 = 1 << 16;
/// Bytes of a request on the wire beside its payload: preamble, Ethernet, IPv4, UDP, BTH, ICRC, FCS, gap.
const HEADERS: u64 = 82;

/// A QP's limiter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limiter {
    /// A CNP came and the rate isn't the line's again.
    active: bool,
    /// Mb/s.
    rate: u32,
    target: u32,
    alpha: u32,
    /// When alpha falls and the rate rises next, ns.
    alpha_at: u64,
    rate_at: u64,
    /// Bytes since the last rise by bytes.
    bytes: u64,
    /// Rises since the last CNP, by time and by bytes.
    by_time: u32,
    by_bytes: u32,
    /// When the next request may leave, ns.
    free_at: u64,
}

impl Limiter {
    /// Mb/s; `None`: as fast as the line.
    pub fn rate(&self) -> Option<u32> {
        self.active.then_some(self.rate)
    }

    /// A CNP came.
    pub fn slow(&mut self, c: &Congestion, now: u64) {
        if !self.active {
            (self.active, self.rate, self.alpha) = (true, c.line_rate.into(), ONE);
        }
        self.target = self.rate;
        let cut = (u64::from(self.rate) * u64::from(self.alpha)) >> 17;
        self.rate = self.rate.saturating_sub(cut as u32).max(u32::from(c.min_rate).max(1));
        self.alpha = self.alpha - (self.alpha >> c.gain_shift) + (ONE >> c.gain_shift);
        self.alpha_at = now + 1000 * u64::from(c.alpha_time.max(1));
        self.rate_at = now + 1000 * u64::from(c.rate_time.max(1));
        (self.bytes, self.by_time, self.by_bytes) = (0, 0, 0);
    }

    /// Timers that have run out by `now`.
    pub fn advance(&mut self, c: &Congestion, now: u64) {
        while self.active && self.alpha_at.min(self.rate_at) <= now {
            if self.alpha_at <= self.rate_at {
                self.alpha -= self.alpha >> c.gain_shift;
                self.alpha_at += 1000 * u64::from(c.alpha_time.max(1));
            } else {
                self.rate_at += 1000 * u64::from(c.rate_time.max(1));
                self.by_time += 1;
                self.rise(c);
            }
        }
    }

    fn rise(&mut self, c: &Congestion) {
        let fast = u32::from(c.fast_steps);
        if self.by_time.min(self.by_bytes) > fast {
            self.target += u32::from(c.hyper);
        } else if self.by_time.max(self.by_bytes) > fast {
            self.target += u32::from(c.additive);
        }
        self.target = self.target.min(c.line_rate.into());
        self.rate = (self.target + self.rate).div_ceil(2);
        self.active = self.rate < u32::from(c.line_rate);
    }

    /// A request left.
    pub fn sent(&mut self, payload: usize, c: &Congestion, now: u64) {
        if !self.active {
            return;
        }
        let bytes = payload as u64 + HEADERS;
        self.free_at = self.free_at.max(now) + bytes * 8000 / u64::from(self.rate);
        self.bytes += bytes;
        let unit = 1024 * u64::from(c.rate_bytes.max(1));
        while self.active && self.bytes >= unit {
            self.bytes -= unit;
            self.by_bytes += 1;
            self.rise(c);
        }
    }

    /// The next request may leave.
    pub fn is_free(&self, now: u64) -> bool {
        !self.active || self.free_at <= now
    }

    /// When something of it happens next, ns; `now` is the last time that it was asked.
    pub fn deadline(&self, now: u64) -> Option<u64> {
        let timers = self.alpha_at.min(self.rate_at);
        self.active
            .then(|| if self.free_at > now { self.free_at.min(timers) } else { timers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cnp_halves_and_recovery_comes_back() {
        let c = Congestion::default();
        let mut l = Limiter::default();
        assert!(l.is_free(0) && l.rate().is_none() && l.deadline(0).is_none());
        l.slow(&c, 0);
        assert_eq!((l.rate(), l.target), (Some(5000), 10_000));
        // Fast recovery: half of the way each 55 us.
        for (step, rate) in [(1, 7500), (2, 8750), (3, 9375)] {
            l.advance(&c, 55_000 * step);
            assert_eq!(l.rate(), Some(rate));
        }
        l.advance(&c, 10_000_000);
        assert_eq!(l.rate(), None);
    }

    #[test]
    fn a_second_cnp_cuts_by_what_alpha_is_then_and_never_below_the_least() {
        let c = Congestion::default();
        let mut l = Limiter::default();
        l.slow(&c, 0);
        let alpha = l.alpha;
        assert_eq!(alpha, ONE);
        // Without CNPs alpha falls by 1/256 each 55 us.
        l.advance(&c, 54_999);
        assert_eq!(l.alpha, ONE);
        l.advance(&c, 55_000);
        assert_eq!(l.alpha, ONE - 256);
        let rate = l.rate().unwrap();
        l.slow(&c, 60_000);
        assert_eq!(l.rate(), Some(rate - ((u64::from(rate) * u64::from(ONE - 256)) >> 17) as u32));
        for n in 0..100 {
            l.slow(&c, 60_000 + n);
        }
        assert_eq!(l.rate(), Some(10));
    }

    #[test]
    fn additive_then_hyper_increase() {
        let c = Congestion {
            rate_bytes: 1,
            ..Congestion::default()
        };
        let mut l = Limiter::default();
        for n in 0..6 {
            l.slow(&c, n);
        }
        assert_eq!(l.target, 313);
        // Five rises by time are fast recovery, the sixth is additive.
        l.advance(&c, 5 + 5 * 55_000);
        assert_eq!(l.target, 313);
        l.advance(&c, 5 + 6 * 55_000);
        assert_eq!(l.target, 353);
        // Bytes too: the sixth by both is hyper.
        for n in 1..=6 {
            l.sent(1024 - HEADERS as usize, &c, 0);
            assert_eq!(l.target, 353 + 40 * n.min(5) + if n == 6 { 200 } else { 0 });
        }
    }

    #[test]
    fn requests_are_spaced_by_the_rate() {
        let c = Congestion::default();
        let mut l = Limiter::default();
        l.slow(&c, 1000);
        // 1250 bytes at 5 Gb/s take 2 us.
        l.sent(1250 - HEADERS as usize, &c, 1000);
        assert!(!l.is_free(2999) && l.is_free(3000));
        assert_eq!(l.deadline(1000), Some(3000));
        assert_eq!(l.deadline(3000), Some(56_000));
    }

    #[test]
    fn nonsense_parameters_end() {
        let c = Congestion {
            min_rate: 0,
            line_rate: 0,
            alpha_time: 0,
            rate_time: 0,
            rate_bytes: 0,
            gain_shift: 15,
            fast_steps: 15,
            ..Congestion::default()
        };
        let mut l = Limiter::default();
        l.slow(&c, 0);
        l.sent(4096, &c, 0);
        l.advance(&c, 10_000_000);
        assert_eq!(l.rate(), None);
    }
}
