import type { TrustedScriptURL, TrustedTypePolicy, TrustedTypePolicyFactory } from "trusted-types/lib";

/** Where the dashboard's own scripts are (src/api/pages/built-dashboard.ts). */
const OWN = "/dashboard/assets/";

let policy: Pick<TrustedTypePolicy, "createScriptURL"> | null = null;

/** Absent in browsers without Trusted Types: there the content security policy alone says what may be run. */
const scriptAddress = (url: string): string | TrustedScriptURL => {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypePolicyFactory };
  policy ??= trustedTypes?.createPolicy("edgewise-worker", { createScriptURL: ownAddress }) ?? null;
  return policy === null ? ownAddress(url) : policy.createScriptURL(url);
};

function ownAddress(url: string): string {
  const { origin, pathname, href } = new URL(url);
  if (origin !== location.origin || !pathname.startsWith(OWN)) throw new TypeError("Only the dashboard's own scripts are run.");
  return href;
}

/** Starts a script beside the page. `url`: what `import … from "….ts?worker"` gave; `base`: `import.meta.url` of who imported it. */
export const startWorker = (url: string, base: string): Worker => new Worker(scriptAddress(new URL(url, base).href) as string, { type: "module" });
