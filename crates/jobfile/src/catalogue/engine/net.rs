//! Private options of the network engines.

rows! {
    [Engines(&["net", "netsplice"]); "engine" / "netio"] {
        HostnameNet: "hostname", Str, Plain;
            Works; "Peer to connect to, or multicast group";
        PortNet: "port", Int, Plain, min 1, max 65535;
            Works; "Port to listen on or connect to";
        Protocol: "protocol" | "proto", Enum, Plain, of Protocol;
            Works; "Transport";
        Nodelay: "nodelay", Bool, Plain;
            Works; "Set TCP_NODELAY";
        Listen: "listen", Flag, Plain;
            Works; "Wait for a connection instead of making one";
        Pingpong: "pingpong", Flag, Plain;
            Works; "Echo each message back to measure latency";
        Interface: "interface", Str, Plain;
            Works; "Local interface address for multicast";
        Ttl: "ttl", Int, Plain, default "1", max 4294967295;
            Works; "Multicast time-to-live";
        WindowSize: "window_size", Int, Bytes, max 4294967295;
            Works; "Socket buffer size";
        Mss: "mss", Int, Bytes, max 4294967295;
            Works; "Maximum segment size";
    }
}
