//! Files: their names, how they are made, laid out, opened and synced.

rows! {
    [Core; "file" / "filename"] {
        Filename: "filename", StrList, Plain;
            Works; "Colon-separated files or devices to use, shared by all clones; backslash escapes a colon; '-' (stdin/stdout) is refused";
        Directory: "directory", StrList, Plain;
            Works; "Colon-separated directories prefixed to file names; clones are spread over them by job number";
        FilenameFormat: "filename_format", Str, Plain, default "$jobname.$jobnum.$filenum";
            Works; "Template for generated names; expands $jobname, $jobnum, $filenum, $clientuid";
        UniqueFilename: "unique_filename", Bool, Plain, default "1";
            NoEffect("there is no client/server mode"); "Prefix generated names with the client's address so networked clients do not collide";
        Lockfile: "lockfile", Enum, Plain, of Lockfile, under "filename";
            Works; "Hold a lock on the file while an I/O is submitted, for files that several jobs share";
        Opendir: "opendir", Str, Plain;
            Works; "Add every file found below this directory to the job";
        AllowFileCreate: "allow_file_create", Bool, Plain, default "1";
            Works; "Create missing files; when 0, a missing file is an error";
        AllowLayoutOverwrite: "allow_layout_overwrite", Bool, Plain, default "0";
            Works; "Allow the layout of a job that only reads to replace files that hold data but are too short (ferrio only)";
        AllowMountedWrite: "allow_mounted_write", Bool, Plain, default "0";
            Works; "Allow writing to a block device that is mounted or otherwise in use; without it, the run is refused";
    }
    [Core; "file" / "io_basic"] {
        Filetype: "filetype", Enum, Plain, of FileType;
            Works; "Type that existing files must have; with file, new files in /dev are allowed";
    }
    [Core; "file" / "none"] {
        FillDevice: "fill_device" | "fill_fs", Bool, Plain, default "0";
            Works; "Write until the device or file system is full";
        Filesize: "filesize", SizeRange, Bytes, min 1;
            Works; "Size of each file; overrides the split of size over nrfiles";
        FileAppend: "file_append", Bool, Plain, default "0";
            Works; "Start at the current end of each file";
        Nrfiles: "nrfiles" | "nr_files", Int, Count, default "1", max 4294967295;
            Works; "Files the job creates and spreads its size over";
        Openfiles: "openfiles", Int, Count, max 4294967295;
            Works; "Most files open at once; a file is closed after its share of the I/Os, and the next one is opened";
        FileServiceType: "file_service_type", EnumArg, Plain, of FileServiceType, under "nrfiles";
            Works; "How the file of the next I/O is chosen (zipf_exact: ferrio only)";
        Fallocate: "fallocate", Enum, Plain, of Fallocate;
            Works; "How space is reserved when laying out files";
        FadviseHint: "fadvise_hint", Enum, Plain, of Fadvise;
            Works; "Access-pattern advice given to the kernel after open";
        Fsync: "fsync", Int, Count, default "0", max 4294967295;
            Works; "fsync after every N writes";
        Fdatasync: "fdatasync", Int, Count, default "0", max 4294967295;
            Works; "fdatasync after every N writes";
        SyncFileRange: "sync_file_range", EnumList, Plain, of SyncFileRangeFlag;
            Works; "Call sync_file_range with these flags after every N writes";
        Overwrite: "overwrite", Bool, Plain, default "0";
            Works; "Lay out the file before writing, so writes overwrite existing blocks";
        Ioscheduler: "ioscheduler", Str, Plain;
            Works; "Set the block device's I/O scheduler before the job starts";
        CreateSerialize: "create_serialize", Bool, Plain, default "1";
            Works; "Create files one job at a time before starting";
        CreateFsync: "create_fsync", Bool, Plain, default "1";
            Works; "fsync a file after laying it out";
        CreateOnOpen: "create_on_open", Bool, Plain, default "0";
            Works; "Do not lay files out up front; create them when first opened";
        CreateOnly: "create_only", Bool, Plain, default "0";
            Works; "Lay out files and stop";
        PreRead: "pre_read", Bool, Plain, default "0";
            Works; "Read the files into cache before timing starts";
        EndFsync: "end_fsync", Bool, Plain, default "0";
            Works; "fsync each file when the job's writing ends";
        FsyncOnClose: "fsync_on_close", Bool, Plain, default "0";
            Works; "fsync a file each time it is closed";
        EndSyncfs: "end_syncfs", Bool, Plain, default "0";
            Works; "Sync the file systems used when the job ends";
        Unlink: "unlink", Bool, Plain, default "0";
            Works; "Delete the job's files when it ends";
        UnlinkEachLoop: "unlink_each_loop", Bool, Plain, default "0";
            Works; "Delete the job's files after each loop; called ferrio, files that the next loop reads are laid out again";
    }
}
