"""Models among scikit-learn's."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import coldlink


def test_a_clone_has_the_parameters_and_no_training(model: coldlink.Model) -> None:
    hidden = [32, 16]
    original = coldlink.Model(preset="default", hidden=hidden, seed=5)
    copy = clone(original)
    assert copy.get_params() == original.get_params() and copy.get_params()["hidden"] == hidden
    assert not clone(model).is_fitted and clone(model).get_params() == model.get_params()


def test_parameters_are_set_or_refused_as_a_whole() -> None:
    model = coldlink.Model(preset="default", width=32)
    assert model.set_params(width=16, learning_rate=0.01) is model
    assert model.get_params()["width"] == 16 and model.settings["learning_rate"] == 0.01
    with pytest.raises(coldlink.ConfigError):
        model.set_params(width=8, depth=3)
    assert model.get_params()["width"] == 16


def test_scikit_learn_knows_whether_a_model_is_trained(model: coldlink.Model) -> None:
    check_is_fitted(model)
    with pytest.raises(NotFittedError):
        check_is_fitted(model.clone())
