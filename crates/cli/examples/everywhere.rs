//! The same program on every backend: `everywhere --backend NAME`, with the settings of this machine's operator.

use std::io::Write as _;
use std::sync::Arc;

use bailiwick_config::{Environment, Request, load};
use bailiwick_secrets::{Fallback, SecretName};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    bailiwick_backends::enter();
    let name = std::env::args().skip_while(|word| word != "--backend").nth(1).ok_or("which --backend?")?;
    let loaded = load(&Environment::of_this_process()?, &Request::default())?;
    let folder = loaded.data_folder.ok_or("there is no data folder")?;
    let names = loaded.settings.secret_variables.iter().map(|name| SecretName::parse(name));
    let secrets = Fallback::of_this_process(&names.collect::<Result<Vec<_>, _>>()?)?;
    let backends = bailiwick_backends::of(&loaded.settings, &folder, Arc::new(secrets))?;
    tokio::runtime::Runtime::new()?.block_on(async {
        let backend =
            backends.by_id(&name).ok_or("there is no such backend, or sandbox.backends does not list it")?;
        let (spec, command) = backend.simplest()?;
        let sandbox = backend.create(spec).await?;
        let result = sandbox.exec(command).await?;
        writeln!(
            std::io::stdout(),
            "{} on {name}, {}: {} walls",
            result.exit.status(),
            backend.tier(),
            result.receipt.walls.len()
        )?;
        Ok(sandbox.terminate().await?)
    })
}
