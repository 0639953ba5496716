"""Independent jobs on processes of one machine or on the workers of a cluster."""

from lpcfg.jobs.run import backend_is_chosen, run_jobs
from lpcfg.jobs.shared import Shared, worker_threads

__all__ = ["Shared", "backend_is_chosen", "run_jobs", "worker_threads"]
