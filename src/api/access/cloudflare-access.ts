import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";
import { fail, ok, type Result } from "../../errors/result.ts";

/** Where Cloudflare Access stands before a deployment, it adds this header to each request of a person whom it let in. */
export const ASSERTION = "cf-access-jwt-assertion";

/** Who a header of Cloudflare Access names. */
export interface AccessDoor {
  /** Email address in lower case; a failure for a header that is not Access' own for this deployment. `now`: Unix milliseconds. */
  emailOf(assertion: string, now: number): Promise<Result<string>>;
}

const TEAM_DOMAIN = /^[a-z0-9][a-z0-9-]*\.cloudflareaccess\.com$/;
const AUDIENCE = /^[0-9a-f]{64}$/;
/** Clocks of two services. */
const TOLERANCE_S = 5;
/** Not the header's fault: the keys could not be read. */
const KEYS_AWAY: readonly string[] = ["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"];

/** Null where the deployment names neither. One that names them wrongly lets nobody in by Access, and says so. */
export function accessDoor(domain: string, audience: string, fetching: typeof fetch = (...request) => fetch(...request)): AccessDoor | null {
  if (domain === "" && audience === "") return null;
  if (TEAM_DOMAIN.test(domain) && AUDIENCE.test(audience)) return new CloudflareAccess(domain, audience, fetching);
  const wrong = fail(
    "unauthorized",
    "This deployment takes nobody from Cloudflare Access: ACCESS_TEAM_DOMAIN must be such as acme.cloudflareaccess.com, and ACCESS_AUD the 64 hexadecimal digits of the application's audience.",
    "Set both in [vars] of wrangler.toml, or neither.",
  );
  return { emailOf: async () => wrong };
}

class CloudflareAccess implements AccessDoor {
  readonly #issuer: string;
  readonly #audience: string;
  /** Read when they are needed, kept for ten minutes, and read anew at most twice a minute for a key that is not among them. */
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;

  constructor(domain: string, audience: string, fetching: typeof fetch) {
    this.#issuer = `https://${domain}`;
    this.#audience = audience;
    this.#keys = createRemoteJWKSet(new URL(`${this.#issuer}/cdn-cgi/access/certs`), { [customFetch]: fetching });
  }

  async emailOf(assertion: string, now: number): Promise<Result<string>> {
    try {
      const { payload } = await jwtVerify(assertion, this.#keys, {
        issuer: this.#issuer,
        audience: this.#audience,
        algorithms: ["RS256"],
        requiredClaims: ["exp", "iat"],
        clockTolerance: TOLERANCE_S,
        currentDate: new Date(now),
      });
      if (typeof payload.email === "string" && payload.email !== "") return ok(payload.email.toLowerCase());
      return fail("forbidden", "Cloudflare Access names no person: this is for a service token.", "Send a token as `Authorization: Bearer <token>` too.");
    } catch (thrown) {
      // What the header says of itself is not repeated.
      if (thrown instanceof errors.JOSEError && !KEYS_AWAY.includes(thrown.code))
        return fail(
          "unauthorized",
          `Cf-Access-Jwt-Assertion is not Cloudflare Access' for this deployment (${thrown.code}).`,
          "Compare ACCESS_TEAM_DOMAIN and ACCESS_AUD with the application in Cloudflare Zero Trust.",
        );
      return fail("endpoint_unavailable", `The keys of Cloudflare Access cannot be read at ${this.#issuer}.`, "Try again, or use a token.");
    }
  }
}
