"""Golden values for `coldlink::evaluate`, written to metrics.json beside this file.

    python -m venv /tmp/golden && /tmp/golden/bin/pip install scikit-learn==1.9.1 numpy==2.4.6
    /tmp/golden/bin/python crates/coldlink/tests/golden/metrics.py

AUC, average precision and NDCG are scikit-learn's. Ranks follow `_eval_mrr` of ogb 1.3.6
(ogb/linkproppred/evaluate.py, the branch for torch: the one for numpy calls `sum(dim=1)` and cannot run). Where torch and
ogb are installed as well, OGB's own Evaluator is run and has to agree.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score


def short(scores):
    """Four decimals to write, and the single precision in which both sides compute."""
    rounded = np.round(np.asarray(scores, dtype=np.float64), 4)
    return rounded.tolist(), rounded.astype(np.float32)


def classification(name, scores, linked):
    written, scores = short(scores)
    return {
        "name": name,
        "scores": written,
        "linked": [bool(truth) for truth in linked],
        "auc": roc_auc_score(linked, scores),
        "ap": average_precision_score(linked, scores),
        "prevalence": float(np.mean(linked)),
    }


def ranking(name, positive, negative):
    (written_positive, positive), (written_negative, negative) = short(positive), short(negative)
    optimistic = (negative > positive[:, None]).sum(axis=1)
    pessimistic = (negative >= positive[:, None]).sum(axis=1)
    ranks = 0.5 * (optimistic + pessimistic) + 1
    check_with_ogb(positive, negative, ranks)
    return {
        "name": name,
        "positive": written_positive,
        "negative": written_negative,
        "ranks": ranks.tolist(),
        "mrr": float((1 / ranks).mean()),
        "hits": {str(k): float((ranks <= k).mean()) for k in (1, 10, 50, 100)},
    }


def lists(name, scores, linked):
    """Rows of candidates, of which some are true links; `ndcg_score` shares the discounts of tied places."""
    written, scores = short(scores)
    return {
        "name": name,
        "scores": written,
        "linked": linked.tolist(),
        "ndcg": {str(k): float(ndcg_score(linked, scores, k=k)) for k in (1, 3, 10, 50)},
    }


def check_with_ogb(positive, negative, ranks):
    try:
        import torch
        from ogb.linkproppred import Evaluator
    except ImportError:
        return
    found = Evaluator("ogbl-citation2").eval(
        {"y_pred_pos": torch.from_numpy(positive), "y_pred_neg": torch.from_numpy(negative)}
    )
    assert np.allclose(found["mrr_list"].numpy(), 1 / ranks)
    assert np.array_equal(found["hits@1_list"].numpy() == 1, ranks <= 1)
    assert np.array_equal(found["hits@10_list"].numpy() == 1, ranks <= 10)
    print("agrees with OGB")


def main():
    random = np.random.default_rng(2020)
    skewed = random.random(400) < 0.04
    balanced = random.random(120) < 0.5
    # Drawn apart, so that the other values stay as they are.
    true = np.random.default_rng(7).random((9, 80)) < 0.06
    true[:, 0] = True
    golden = {
        "classification": [
            classification("no ties", random.normal(size=120) + balanced, balanced),
            classification("many ties", np.round(random.normal(size=120) + balanced), balanced),
            classification("skewed", random.normal(size=400) + 1.5 * skewed, skewed),
            classification("skewed with ties", np.round(2 * random.normal(size=400) + 3 * skewed) / 2, skewed),
            classification("constant", np.full(400, 0.25), skewed),
            classification("reversed", -balanced.astype(float), balanced),
            classification("perfect", balanced.astype(float), balanced),
        ],
        "ranking": [
            ranking("no ties", random.normal(size=12) + 1.5, random.normal(size=(12, 150))),
            ranking("many ties", np.round(random.normal(size=12) + 1.5), np.round(random.normal(size=(12, 150)))),
            ranking("constant", np.zeros(5), np.zeros((5, 30))),
        ],
        "lists": [
            lists("no ties", random.normal(size=(9, 80)) + true, true),
            lists("many ties", np.round(random.normal(size=(9, 80)) + true), true),
            lists("constant", np.zeros((9, 80)), true),
        ],
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
