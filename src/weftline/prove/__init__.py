"""Claims about a fabric and its routes, judged: proved with a certificate, refuted with a witness, or unknown."""

from weftline.prove.check import check_certificate
from weftline.prove.claims import CLAIMS, prove

__all__ = ["CLAIMS", "check_certificate", "prove"]
