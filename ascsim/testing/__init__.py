"""Help for tests of kernels: hazards as values, order-independence, and the pytest plugin `ascsim.testing.plugin`.

`ascsim.testing.strategies` holds strategies for hypothesis, which only they need.
"""

from ascsim.hw.errors import OrderDependenceError

from .launches import Hazard, assert_order_independent, find_hazards
