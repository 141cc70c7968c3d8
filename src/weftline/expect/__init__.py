"""Predictions of collectives and jobs, with what binds."""

from weftline.expect.closed import closed_form
from weftline.expect.job import job_closed_form, job_compute_us, predict_job

__all__ = ["closed_form", "job_closed_form", "job_compute_us", "predict_job"]
