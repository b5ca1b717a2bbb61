//! Private options of fio's engines that ferrio does not have. The rows of an engine move to `mod.rs` when it is implemented.

use crate::catalogue::absent;

rows! {
    [Engines(&["dfs"]); "engine" / "dfs"] {
        PoolDfs: "pool", Str, Plain;
            Unavailable(absent::DFS); "DAOS pool label or UUID";
        Cont: "cont", Str, Plain;
            Unavailable(absent::DFS); "DAOS container label or UUID";
        ChunkSizeDfs: "chunk_size", Size, Bytes, default "0", max 18446744073709551615;
            Unavailable(absent::DFS); "Chunk size of created files";
        ObjectClass: "object_class", Str, Plain;
            Unavailable(absent::DFS); "DAOS object class of created files";
        Svcl: "svcl", Str, Plain;
            Unavailable(absent::DFS); "Service ranks of the pool replicas";
    }
    [Engines(&["gfapi", "gfapi_async"]); "engine" / "gfapi"] {
        Volume: "volume", Str, Plain;
            Unavailable(absent::GFAPI); "Gluster volume";
        Brick: "brick", Str, Plain;
            Unavailable(absent::GFAPI); "Gluster server to contact";
        SingleInstanceGfapi: "single-instance", Bool, Plain;
            Unavailable(absent::GFAPI); "Share one connection between all jobs of the process";
    }
    [Engines(&["libblkio"]); "engine" / "libblkio"] {
        LibblkioDriver: "libblkio_driver", Str, Plain;
            Unavailable(absent::LIBBLKIO); "libblkio driver";
        LibblkioPath: "libblkio_path", Str, Plain;
            Unavailable(absent::LIBBLKIO); "Driver's path property";
        LibblkioPreConnectProps: "libblkio_pre_connect_props", StrList, Plain;
            Unavailable(absent::LIBBLKIO); "Properties set before connecting";
        LibblkioNumEntries: "libblkio_num_entries", Int, Count, min 1, max 4294967295;
            Unavailable(absent::LIBBLKIO); "Driver's num-entries property";
        LibblkioQueueSize: "libblkio_queue_size", Int, Count, min 1, max 4294967295;
            Unavailable(absent::LIBBLKIO); "Driver's queue-size property";
        LibblkioPreStartProps: "libblkio_pre_start_props", StrList, Plain;
            Unavailable(absent::LIBBLKIO); "Properties set before starting";
        HipriLibblkio: "hipri", Flag, Plain;
            Unavailable(absent::LIBBLKIO); "Use poll queues";
        LibblkioVectored: "libblkio_vectored", Flag, Plain;
            Unavailable(absent::LIBBLKIO); "Use vectored requests";
        LibblkioWriteZeroesOnTrim: "libblkio_write_zeroes_on_trim", Flag, Plain;
            Unavailable(absent::LIBBLKIO); "Turn trims into write-zeroes";
        LibblkioWaitMode: "libblkio_wait_mode", Enum, Plain, default "block", words ["block", "eventfd", "loop"];
            Unavailable(absent::LIBBLKIO); "How completions are awaited";
        LibblkioForceEnableCompletionEventfd: "libblkio_force_enable_completion_eventfd", Flag, Plain;
            Unavailable(absent::LIBBLKIO); "Enable the completion eventfd even when unused";
    }
    [Engines(&["libcufile"]); "engine" / "libcufile"] {
        GpuDevIdsLibcufile: "gpu_dev_ids", StrList, Plain;
            Unavailable(absent::LIBCUFILE); "GPUs handed out to clones in turn";
        CudaIo: "cuda_io", Enum, Plain, default "cufile", words ["cufile", "posix"];
            Unavailable(absent::LIBCUFILE); "GPUDirect, or POSIX I/O plus GPU copies";
    }
    [Engines(&["libhdfs"]); "engine" / "hdfs"] {
        Namenode: "namenode", Str, Plain, default "localhost";
            Unavailable(absent::LIBHDFS); "HDFS name node";
        HostnameLibhdfs: "hostname", Str, Plain, default "localhost";
            Unavailable(absent::LIBHDFS); "HDFS name node, older spelling";
        PortLibhdfs: "port", Int, Plain, default "9000", min 1, max 65535;
            Unavailable(absent::LIBHDFS); "Name node port";
        Hdfsdirectory: "hdfsdirectory", Str, Plain, default "/";
            Unavailable(absent::LIBHDFS); "HDFS directory for the chunks";
        ChunkSizeLibhdfs: "chunk_size" | "chunck_size", Int, Bytes, default "1048576", max 4294967295;
            Unavailable(absent::LIBHDFS); "Size of each HDFS file";
        SingleInstanceLibhdfs: "single_instance", Bool, Plain, default "1";
            Unavailable(absent::LIBHDFS); "One connection instance per process";
        HdfsUseDirect: "hdfs_use_direct", Bool, Plain, default "0";
            Unavailable(absent::LIBHDFS); "Use the direct read call";
    }
    [Engines(&["libhipfile"]); "engine" / "libhipfile"] {
        GpuDevIdsLibhipfile: "gpu_dev_ids", StrList, Plain;
            Unavailable(absent::LIBHIPFILE); "GPUs handed out to clones in turn";
        RocmIo: "rocm_io", Enum, Plain, default "hipfile", words ["hipfile", "posix"];
            Unavailable(absent::LIBHIPFILE); "Direct, or POSIX I/O plus GPU copies";
    }
    [Engines(&["libiscsi"]); "engine" / "iscsi"] {
        Initiator: "initiator", Str, Plain, default "iqn.2019-04.org.fio:fio";
            Unavailable(absent::LIBISCSI); "Initiator name presented to the target";
    }
    [Engines(&["nfs"]); "engine" / "nfs"] {
        NfsUrl: "nfs_url", Str, Plain;
            Unavailable(absent::NFS); "Server and export in libnfs URL form";
    }
    [Engines(&["rados"]); "engine" / "rbd"] {
        ClusternameRados: "clustername", Str, Plain;
            Unavailable(absent::RADOS); "Ceph cluster";
        PoolRados: "pool", Str, Plain;
            Unavailable(absent::RADOS); "Ceph pool";
        ClientnameRados: "clientname", Str, Plain;
            Unavailable(absent::RADOS); "Ceph user";
        Conf: "conf", Str, Plain, default "/etc/ceph/ceph.conf";
            Unavailable(absent::RADOS); "Ceph configuration file";
        BusyPollRados: "busy_poll", Bool, Plain, default "0";
            Unavailable(absent::RADOS); "Meant to poll for completions; no effect";
        TouchObjects: "touch_objects", Bool, Plain, default "1";
            Unavailable(absent::RADOS); "Create all objects at start";
    }
    [Engines(&["rbd"]); "engine" / "rbd"] {
        ClusternameRbd: "clustername", Str, Plain;
            Unavailable(absent::RBD); "Ceph cluster";
        Rbdname: "rbdname", Str, Plain;
            Unavailable(absent::RBD); "RBD image";
        PoolRbd: "pool", Str, Plain;
            Unavailable(absent::RBD); "Ceph pool";
        ClientnameRbd: "clientname", Str, Plain;
            Unavailable(absent::RBD); "Ceph user";
        BusyPollRbd: "busy_poll", Bool, Plain, default "0";
            Unavailable(absent::RBD); "Poll for completions";
        RbdEncryptionFormat: "rbd_encryption_format", Str, Plain;
            Unavailable(absent::RBD); "Encryption format to load: luks1 or luks2";
        RbdEncryptionPassphrase: "rbd_encryption_passphrase", Str, Plain;
            Unavailable(absent::RBD); "Passphrase of the encrypted image";
    }
    [Engines(&["rdma"]); "engine" / "rdma"] {
        HostnameRdma: "hostname", Str, Plain;
            Unavailable(absent::RDMA); "Peer to connect to";
        Bindname: "bindname", Str, Plain;
            Unavailable(absent::RDMA); "Local RDMA address";
        PortRdma: "port", Int, Plain, min 1, max 65535;
            Unavailable(absent::RDMA); "Connection manager port";
        Verb: "verb" | "proto", Enum, Plain, default "write", words ["write", "read", "send", "recv"];
            Unavailable(absent::RDMA); "RDMA operation";
    }
    [Engines(&["external"]); "engine" / "none"] {
        Dummy: "dummy", Flag, Plain;
            Unavailable(absent::EXTERNAL); "Example option without effect";
    }
    [Engines(&["windowsaio"]); "engine" / "windowsaio"] {
        NoCompletionThread: "no_completion_thread", Flag, Plain;
            Unavailable(absent::WINDOWS); "Poll completions without an additional thread";
    }
    [Engines(&["xnvme"]); "engine" / "xnvme"] {
        HipriXnvme: "hipri", Flag, Plain;
            Unavailable(absent::XNVME); "Busy-poll for completions";
        SqthreadPollXnvme: "sqthread_poll", Flag, Plain;
            Unavailable(absent::XNVME); "Let a kernel thread submit";
        XnvmeBe: "xnvme_be", Str, Plain;
            Unavailable(absent::XNVME); "xNVMe backend";
        XnvmeMem: "xnvme_mem", Str, Plain;
            Unavailable(absent::XNVME); "xNVMe memory backend";
        XnvmeAsync: "xnvme_async", Str, Plain;
            Unavailable(absent::XNVME); "Asynchronous command interface";
        XnvmeSync: "xnvme_sync", Str, Plain;
            Unavailable(absent::XNVME); "Synchronous command interface";
        XnvmeAdmin: "xnvme_admin", Str, Plain;
            Unavailable(absent::XNVME); "Admin command interface";
        XnvmeDevNsid: "xnvme_dev_nsid", Int, Plain, max 4294967295;
            Unavailable(absent::XNVME); "Namespace id";
        XnvmeDevSubnqn: "xnvme_dev_subnqn", Str, Plain;
            Unavailable(absent::XNVME); "Subsystem NQN";
        XnvmeIovec: "xnvme_iovec", Flag, Plain;
            Unavailable(absent::XNVME); "Use vectored commands";
        MdPerIoSizeXnvme: "md_per_io_size", Int, Bytes, default "0", max 4294967295;
            Unavailable(absent::XNVME); "Size of the separate metadata buffer of each I/O";
        PiActXnvme: "pi_act", Bool, Plain, default "1";
            Unavailable(absent::XNVME); "Protection information is handled by the device (1) or by the program (0)";
        PiChkXnvme: "pi_chk", WordList, Plain, words ["GUARD", "REFTAG", "APPTAG"];
            Unavailable(absent::XNVME); "Protection fields to check";
        ApptagXnvme: "apptag", Int, Plain, default "0x1234", max 4294967295;
            Unavailable(absent::XNVME); "Application tag value";
        ApptagMaskXnvme: "apptag_mask", Int, Plain, default "0xffff", max 4294967295;
            Unavailable(absent::XNVME); "Application tag mask";
    }
}
