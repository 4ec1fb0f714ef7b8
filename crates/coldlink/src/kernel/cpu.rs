//! Which instruction set the kernels use.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::hint::Hint;

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cpu {
    /// Plain Rust, for any machine.
    Portable,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// 512-bit vectors.
    Avx512,
}

/// Why an instruction set cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CpuError {
    /// No such name.
    #[error("there is no instruction set `{0}`")]
    Unknown(String),
    /// This machine lacks it.
    #[error("this machine does not support {asked}, only up to {best}")]
    Missing {
        /// What was asked for.
        asked: Cpu,
        /// The best there is.
        best: Cpu,
    },
}

impl CpuError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            CpuError::Unknown(_) => Hint::new("use `portable`, `avx2` or `avx512`"),
            CpuError::Missing { best, .. } => Hint::text(format!("use `{best}`")),
        })
    }
}

const UNDECIDED: u8 = u8::MAX;
static CHOSEN: AtomicU8 = AtomicU8::new(UNDECIDED);

impl Cpu {
    /// All, plainest first.
    pub const ALL: [Cpu; 3] = [Cpu::Portable, Cpu::Avx2, Cpu::Avx512];

    /// The best that this machine has.
    pub fn best() -> Cpu {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                return Cpu::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Cpu::Avx2;
            }
        }
        Cpu::Portable
    }

    /// The one in use.
    #[inline]
    pub fn current() -> Cpu {
        match CHOSEN.load(Ordering::Relaxed) {
            0 => Cpu::Portable,
            1 => Cpu::Avx2,
            2 => Cpu::Avx512,
            _ => {
                let best = Cpu::best();
                CHOSEN.store(best as u8, Ordering::Relaxed);
                best
            }
        }
    }

    /// Uses this one from now on, in the whole process.
    pub fn force(self) -> Result<(), CpuError> {
        let best = Cpu::best();
        if self > best {
            return Err(CpuError::Missing { asked: self, best });
        }
        CHOSEN.store(self as u8, Ordering::Relaxed);
        Ok(())
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cpu::Portable => "portable",
            Cpu::Avx2 => "avx2",
            Cpu::Avx512 => "avx512",
        })
    }
}

impl FromStr for Cpu {
    type Err = CpuError;

    fn from_str(text: &str) -> Result<Self, CpuError> {
        let known = Cpu::ALL.into_iter().find(|cpu| cpu.to_string() == text);
        known.ok_or_else(|| CpuError::Unknown(text.to_owned()))
    }
}
