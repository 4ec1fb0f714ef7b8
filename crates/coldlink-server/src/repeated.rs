//! Requests that are sent again because their answer got lost: who gives a key gets the first answer once more.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;
use tokio::sync::OnceCell;

use crate::error::{ApiError, Code};

/// The header that has the key.
const HEADER: &str = "idempotency-key";
/// Keys that are remembered.
const MOST_KEYS: usize = 1_000;
/// Characters of a key.
const LONGEST: usize = 255;

/// What was answered to requests with a key.
pub struct Repeated<T> {
    answers: Mutex<Answers<T>>,
}

struct Answers<T> {
    by_key: HashMap<String, First<T>>,
    in_order: VecDeque<String>,
}

struct First<T> {
    /// Of what was asked.
    fingerprint: u64,
    answer: Arc<OnceCell<T>>,
}

impl<T> Default for Repeated<T> {
    fn default() -> Self {
        Repeated { answers: Mutex::new(Answers { by_key: HashMap::new(), in_order: VecDeque::new() }) }
    }
}

impl<T> Repeated<T> {
    /// Where the answer to a request is kept. Two requests with the same key share it; without a key nobody does. An error is not
    /// kept: who asks again may have better luck.
    pub fn answer_to(&self, headers: &HeaderMap, fingerprint: u64) -> Result<Arc<OnceCell<T>>, ApiError> {
        let Some(key) = headers.get(HEADER) else { return Ok(Arc::default()) };
        let key = key.to_str().ok().map(str::trim).filter(|key| (1..=LONGEST).contains(&key.len()));
        let key = key.ok_or_else(|| {
            let message = format!("`Idempotency-Key` is not a text of 1 to {LONGEST} visible ASCII characters");
            ApiError::new(Code::BadValue, message, "send a random key, such as a UUID")
        })?;
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = answers.by_key.get(key) {
            return if first.fingerprint == fingerprint {
                Ok(Arc::clone(&first.answer))
            } else {
                let message = "this `Idempotency-Key` came with another request before";
                Err(ApiError::new(Code::KeyReused, message, "send a new key with a new request"))
            };
        }
        if answers.in_order.len() == MOST_KEYS
            && let Some(oldest) = answers.in_order.pop_front()
        {
            answers.by_key.remove(&oldest);
        }
        let answer = Arc::default();
        answers.in_order.push_back(key.to_owned());
        answers.by_key.insert(key.to_owned(), First { fingerprint, answer: Arc::clone(&answer) });
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(key: &str) -> HeaderMap {
        HeaderMap::from_iter([(HEADER.parse().unwrap(), key.parse().unwrap())])
    }

    #[tokio::test]
    async fn a_key_gives_the_first_answer_and_an_error_is_forgotten() {
        let repeated = Repeated::<u32>::default();
        let ask = |key: &str, fingerprint| repeated.answer_to(&headers(key), fingerprint);
        let failed = ask("a", 1).unwrap().get_or_try_init(|| async { Err::<u32, ()>(()) }).await.copied();
        assert_eq!(failed, Err(()));
        let answered = |number| move || async move { Ok::<u32, ()>(number) };
        assert_eq!(ask("a", 1).unwrap().get_or_try_init(answered(7)).await, Ok(&7));
        assert_eq!(ask("a", 1).unwrap().get_or_try_init(answered(8)).await, Ok(&7));
        assert_eq!(ask("a", 2).unwrap_err().code, Code::KeyReused);
        assert_eq!(ask("", 1).unwrap_err().code, Code::BadValue);
        let without = || repeated.answer_to(&HeaderMap::new(), 1).unwrap();
        assert!(!Arc::ptr_eq(&without(), &without()));
    }

    #[test]
    fn only_the_newest_keys_are_remembered() {
        let repeated = Repeated::<u32>::default();
        for key in 0..2 * MOST_KEYS {
            repeated.answer_to(&headers(&key.to_string()), 1).unwrap();
        }
        let answers = repeated.answers.lock().unwrap();
        assert_eq!((answers.by_key.len(), answers.in_order.len()), (MOST_KEYS, MOST_KEYS));
        assert!(answers.by_key.contains_key(&(2 * MOST_KEYS - 1).to_string()));
    }
}
