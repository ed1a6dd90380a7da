/** What the global set-up of the tests in workerd hands to them. */
declare module "vitest" {
  interface ProvidedContext {
    /** Base URL of the scripted model server's `/stats` and `/script`. */
    modelServerUrl: string;
    /** Base URL of the monitor that counts heartbeats. */
    heartbeatServerUrl: string;
    /** An environment's server (test/support/environment-http/linked-server.ts). */
    linkedServer: { readonly url: string; readonly token: string };
  }
}

export {};
