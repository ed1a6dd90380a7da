"""Model calls: the other side makes them, and the environment's code has SDKs, clients and addresses for them."""
