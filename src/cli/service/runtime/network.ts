import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Certificates that the runtime trusts besides its own: those of `NODE_EXTRA_CA_CERTS`, as miniflare's own network does; on Windows Node's too. */
function trustedCertificates(env: NodeJS.ProcessEnv): string[] {
  const own = process.platform === "win32" ? rootCertificates : [];
  if (env.NODE_EXTRA_CA_CERTS === undefined) return [...own];
  try {
    return [...own, ...(readFileSync(env.NODE_EXTRA_CA_CERTS, "utf8").match(CERTIFICATE) ?? [])];
  } catch {
    // Node, which reads it first, has said so.
    return [...own];
  }
}

/**
 * The network as a binding. Where a Worker of miniflare calls the global `fetch`, another Worker stands between, which makes each request
 * anew with a header of its own; it takes as long as all that a bare call takes (docs/decisions/direct-network.md).
 */
export const directNetwork = (env: NodeJS.ProcessEnv) => ({
  // What miniflare's own network allows.
  network: { allow: ["public", "private", "240.0.0.0/4"], tlsOptions: { trustBrowserCas: true, trustedCertificates: trustedCertificates(env) } },
});
