"""`python -m tests.proof.attacks`."""

import sys

from tests.proof.attacks.program import main

sys.exit(main())
