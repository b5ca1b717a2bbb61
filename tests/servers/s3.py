"""An S3 server (moto) on a free port of the loopback, which checks signatures, for the tests of the engine http.

Writes a line of JSON to standard output once it listens: its port, and the keys of a user who may do everything. Ends with standard
input."""

import json
import logging
import os
import sys
import urllib.request

import boto3
from moto.server import ThreadedMotoServer

logging.disable(logging.CRITICAL)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
address = f"http://127.0.0.1:{port}"
anybody = {
    "endpoint_url": address,
    "region_name": "eu-central-1",
    "aws_access_key_id": "anybody",
    "aws_secret_access_key": "anything",
}
boto3.client("s3", **anybody).create_bucket(
    Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
)
iam = boto3.client("iam", **anybody)
iam.create_user(UserName="tester")
everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
iam.put_user_policy(UserName="tester", PolicyName="everything", PolicyDocument=json.dumps(everything))
key = iam.create_access_key(UserName="tester")["AccessKey"]
# From now on, every request needs a signature.
check = urllib.request.Request(
    address + "/moto-api/reset-auth", data=b"0", method="POST", headers={"Content-Type": "text/plain"}
)
urllib.request.urlopen(check).read()
print(json.dumps({"port": port, "id": key["AccessKeyId"], "key": key["SecretAccessKey"]}), flush=True)
sys.stdin.read()
# Threads that serve do not hold the end up.
os._exit(0)
