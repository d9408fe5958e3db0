node -e '
const tell = async (what, asking) => {
  try { console.log(what, await asking()); } catch (error) { console.log(what, "failed", error.cause?.code ?? error.code); }
};
const get = (url) => new Promise((resolve, reject) => {
  require("https").get(url, (answer) => answer.on("data", (data) => resolve(String(data)))).on("error", reject);
});
const text = async (url) => (await fetch(url)).text();
(async () => {
  await tell("fetch", () => text("https://public.test/json"));
  await tell("https", () => get("https://public.test/json"));
  await tell("ESCAPED?", () => text("https://other.test/json"));
  await tell("ESCAPED?", () => get("https://other.test/json"));
})();
' > said
sed -e '/^ESCAPED? failed/s/^ESCAPED?/REFUSED/' -e 's/^ESCAPED?/ESCAPED/' said
