/**
 * The methods of Cloudflare's Sandbox SDK that are called (`@cloudflare/sandbox` 0.12.10, class `Sandbox`): a Durable Object with a container, reached by RPC. Its code is
 * where its class is, in a Worker beside this one, and none of it here.
 */
export interface ContainerStub {
  configure(configuration: { readonly sandboxName: { readonly name: string; readonly normalizeId: boolean }; readonly sleepAfter: string }): Promise<void>;
  exec(command: string, options: { readonly timeout: number }): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number }>;
  writeFile(path: string, content: string, options: { readonly encoding: "base64" }): Promise<unknown>;
  readFile(path: string, options: { readonly encoding: "base64" }): Promise<{ readonly content: string }>;
  callTunnels(method: "get", args: readonly [number]): Promise<{ readonly url: string }>;
  destroy(): Promise<void>;
}

/** The binding to that class. */
export interface Containers {
  idFromName(name: string): unknown;
  get(id: unknown): unknown;
}
