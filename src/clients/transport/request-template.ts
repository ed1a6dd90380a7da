/** What is asked of an SDK's client: where and with which headers it would send a request. */
export interface RequestBuilder {
  buildRequest(options: { method: "post" | "get"; path: string; body?: object }): Promise<{ req: { headers: Headers }; url: string }>;
}

export interface Template {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers of the SDKs that no server needs: about the machine they run on, and a default. Each costs an executor 8 µs per call. */
const needless = (name: string): boolean => name.startsWith("x-stainless-") || name === "accept";

/** Where an SDK's client would send a request, and with which headers. With `body` it is one of JSON. */
export async function templateOf(native: RequestBuilder, request: { method: "post" | "get"; path: string; body?: object }): Promise<Template> {
  const { req, url } = await native.buildRequest(request);
  return { url, headers: Object.fromEntries([...new Headers(req.headers)].filter(([name]) => !needless(name))) };
}
