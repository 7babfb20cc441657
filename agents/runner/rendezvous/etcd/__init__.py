"""The rendezvous over etcd's v3 API: what keeps an attempt is a server that no training node hosts."""
