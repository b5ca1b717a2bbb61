//! Private options of the engine http.

rows! {
    [Engines(&["http"]); "engine" / "http"] {
        Https: "https", Enum, Plain, of Https;
            Works; "Use TLS, optionally without peer verification";
        HttpHost: "http_host", Str, Plain, default "localhost";
            Works; "Server, with its port if that is not the usual one";
        HttpUser: "http_user", Str, Plain;
            Works; "User name";
        HttpPass: "http_pass", Str, Plain;
            Works; "Password";
        HttpS3Key: "http_s3_key", Str, Plain;
            Works; "S3 secret key";
        HttpS3Keyid: "http_s3_keyid", Str, Plain;
            Works; "S3 access key id";
        HttpS3SecurityToken: "http_s3_security_token", Str, Plain;
            Works; "Session token for temporary S3 credentials";
        HttpSwiftAuthToken: "http_swift_auth_token", Str, Plain;
            Works; "Swift authentication token";
        HttpS3Region: "http_s3_region", Str, Plain, default "us-east-1";
            Works; "S3 region used in request signatures";
        HttpS3SseCustomerKey: "http_s3_sse_customer_key", Str, Plain;
            Works; "Customer key for server-side encryption";
        HttpS3SseCustomerAlgorithm: "http_s3_sse_customer_algorithm", Str, Plain, default "AES256";
            Works; "Algorithm for server-side encryption";
        HttpS3StorageClass: "http_s3_storage_class", Str, Plain, default "STANDARD";
            Works; "Storage class requested for objects";
        HttpMode: "http_mode", Enum, Plain, of HttpMode;
            Works; "Protocol dialect spoken to the server";
        HttpVerbose: "http_verbose", Int, Plain, default "0", max 4294967295;
            Works; "1 prints the headers of all messages, 2 their bodies too";
        HttpObjectMode: "http_object_mode", Enum, Plain, of HttpObjectMode;
            Works; "One object per block, or byte ranges of one object per file";
    }
}
