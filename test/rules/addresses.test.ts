import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../src/config/addresses.ts";

describe("an address that the whole internet may be behind", () => {
  it.each([
    "https://api.openai.com/v1",
    "https://8.8.8.8",
    "https://172.32.0.1",
    "https://100.128.0.1",
    "https://[2606:4700::1111]",
    "https://xn--bcher-kva.example",
    "https://localhost.example.com",
    "https://[2002:808:808::1]",
  ])("%s", (url) => {
    expect(isPublicAddress(url)).toBe(true);
  });

  it.each([
    // IPv4 in every notation that a URL knows.
    "https://127.0.0.1",
    "https://127.1",
    "https://2130706433",
    "https://0x7f000001",
    "https://0x7f.0.0.1",
    "https://017700000001",
    "https://0177.0.0.01",
    "https://127.0.0.1.",
    "https://１２７.0.0.1",
    "https://%31%32%37.0.0.1",
    "https://0",
    "https://0.0.0.0",
    "https://10.1.2.3",
    "https://172.16.0.1",
    "https://172.31.255.255",
    "https://192.168.1.1",
    "https://169.254.169.254/latest/meta-data",
    "https://2852039166",
    "https://100.64.0.1",
    "https://100.100.100.200",
    "https://192.0.0.192",
    "https://198.18.0.1",
    "https://224.0.0.1",
    "https://255.255.255.255",
    // IPv6, and IPv4 inside it.
    "https://[::1]",
    "https://[::]",
    "https://[0:0:0:0:0:0:0:1]",
    "https://[::ffff:127.0.0.1]",
    "https://[::ffff:8.8.8.8]",
    "https://[::ffff:a9fe:a9fe]",
    "https://[::127.0.0.1]",
    "https://[64:ff9b::a9fe:a9fe]",
    "https://[2002:7f00:1::]",
    "https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "https://[fe80::1]",
    "https://[fd00:ec2::254]",
    "https://[fc00::1]",
    "https://[fec0::1]",
    "https://[ff02::1]",
    "https://[2001:db8::1]",
    // Names that only a local network knows.
    "https://localhost",
    "https://LOCALHOST.",
    "https://a.localhost",
    "https://metadata",
    "https://metadata.google.internal",
    "https://metadata.google.internal.",
    "https://instance-data.ec2.internal",
    "https://printer.local",
    "https://router.home.arpa",
    "https://db.corp",
    "not a url",
  ])("is not %s", (url) => {
    expect(isPublicAddress(url)).toBe(false);
  });
});
