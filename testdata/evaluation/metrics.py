"""Prints as JSON scikit-learn's metrics of decisions. Reads from stdin a JSON list of cases, each with the number of classes
classes, the true classes y, the predicted ones predicted, probabilities (by document and class, or null), scores (the same) and
weights (of the documents). Each result maps a metric to its value, or "metric class" or "metric true predicted" for numbers of
classes. A metric that is not a number is left out. With only and other instead of y it prints the p-values of McNemar's test,
exact and with the chi-squared distribution."""

import json
import sys
import warnings

import numpy as np
from scipy import stats
from sklearn import calibration, metrics

warnings.filterwarnings("ignore")


def mcnemar(b, c):
    chi2 = (abs(b - c) - 1) ** 2 / (b + c) if b + c else 0
    return {"exact": stats.binomtest(b, b + c).pvalue if b + c else 1.0, "statistic": chi2, "p": stats.chi2.sf(chi2, 1)}


def figures(case):
    if "only" in case:
        return mcnemar(case["only"], case["other"])
    n = case["classes"]
    y, predicted = np.array(case["y"]), np.array(case["predicted"])
    scores, weights = np.array(case["scores"]), np.array(case["weights"])
    labels, one_hot = list(range(n)), np.eye(n)[y]
    w = dict(sample_weight=weights)
    low, high = stats.binomtest(int(weights[y == predicted].sum()), int(weights.sum())).proportion_ci(0.95, "wilson")
    out = {
        "accuracy": metrics.accuracy_score(y, predicted, **w),
        "accuracy_low": low,
        "accuracy_high": high,
        "balanced_accuracy": metrics.balanced_accuracy_score(y, predicted, **w),
        "macro_f1": metrics.f1_score(y, predicted, average="macro", zero_division=0, **w),
        "micro_f1": metrics.f1_score(y, predicted, average="micro", zero_division=0, **w),
    }
    for name, values in zip(
        ["precision", "recall", "f1", "support"],
        metrics.precision_recall_fscore_support(y, predicted, labels=labels, zero_division=0, **w),
    ):
        for c in labels:
            out[f"{name} {c}"] = values[c]
    confusion = metrics.confusion_matrix(y, predicted, labels=labels, **w)
    for i in labels:
        for j in labels:
            if confusion[i, j]:
                out[f"confusion {i} {j}"] = confusion[i, j]
    if case["probabilities"] is not None:
        p = np.array(case["probabilities"])
        out["log_loss"] = metrics.log_loss(y, p, labels=labels, **w)
        out["brier"] = metrics.brier_score_loss(y, p, labels=labels, **w)
        top, right = p[np.arange(len(y)), predicted], y == predicted
        top, right = np.repeat(top, weights), np.repeat(right, weights)
        share, mean = calibration.calibration_curve(right, top, n_bins=10)
        out["calibration"] = [share.tolist(), mean.tolist()]
    if n == 2:
        out["auc"] = metrics.roc_auc_score(y, scores[:, 1], **w)
    elif case["probabilities"] is not None:
        out["auc"] = metrics.roc_auc_score(y, p, multi_class="ovr", labels=labels, **w)
        for c in labels:
            out[f"auc {c}"] = metrics.roc_auc_score(one_hot[:, c], p[:, c], **w)
    else:
        out["auc"] = metrics.roc_auc_score(one_hot, scores, **w)  # as multilabel: scores need not be probabilities
        for c in labels:
            out[f"auc {c}"] = metrics.roc_auc_score(one_hot[:, c], scores[:, c], **w)
    return {k: v if isinstance(v, list) else float(v) for k, v in out.items() if isinstance(v, list) or not np.isnan(v)}


json.dump([figures(case) for case in json.load(sys.stdin)], sys.stdout)
