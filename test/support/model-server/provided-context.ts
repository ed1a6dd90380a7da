/** What the global set-up of the tests in workerd hands to them. */
declare module "vitest" {
  interface ProvidedContext {
    /** Base URL of the scripted model server's `/stats` and `/script`. */
    modelServerUrl: string;
    /** Base URL of the monitor that counts heartbeats. */
    heartbeatServerUrl: string;
  }
}

export {};
