/** The SDK sends the newest version, which refuses `temperature`, `top_p` and `top_k`: an evaluation must be able to set them. */
export const API_VERSION = "2023-06-01";
