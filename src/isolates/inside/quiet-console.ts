/**
 * Imported first: the platform's console leads to the log of the service, where nothing that an environment says of its own belongs. What its code prints is
 * told to the session that it works for (src/logging/worker-console.ts), and what nobody asked for to nobody.
 */
for (const [name, method] of Object.entries(console)) if (typeof method === "function") Reflect.set(console, name, () => undefined);
addEventListener("unhandledrejection", (event) => event.preventDefault());
