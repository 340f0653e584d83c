"""Order search: `hpcsched/cpp/planning/order_search.hpp` searches, as an improver of list plans."""
