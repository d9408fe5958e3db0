//! One connection, or one request where requests stand by themselves: what a client may ask, and who it is.
#![expect(deprecated, reason = "clients of the older era set the level of the lines that they want to hear")]

use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_core::{Admitted, NoRoom, Room};
use bailiwick_types::{CorrelationId, shortened, visible};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, ErrorCode, Extensions, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use crate::Era;
use crate::audience::{Audience, Wanted};
use crate::era::shows_forms;
use crate::mcp::Shared;

/// How long a client may take a list for fresh, in milliseconds. A tool that is gone by then is refused all the same.
const FRESH_MS: u64 = 5_000;
/// The most that a client may say about itself, in bytes of JSON.
pub(crate) const MOST_ABOUT_ITSELF: usize = 16 * 1024;
/// The most of a client's name that is kept, in characters.
const MOST_OF_A_NAME: usize = 48;
/// The key of what caused a call.
const CORRELATION: &str = "bailiwick/correlationId";

/// What a model is told about this server.
const INSTRUCTIONS: &str = "Tools here run in a sandbox, each under a policy of its own. A result that says \
    APPROVAL_DECLINED, APPROVAL_TIMEOUT or APPROVAL_UNAVAILABLE means that a person did not say yes: do not try again. \
    A result that says NET_DENIED, FS_DENIED or CAPABILITY_DENIED means that the tool's policy does not allow it, \
    and trying again does not help.";

/// One connection.
pub(crate) struct Door {
    pub(crate) shared: Arc<Shared>,
    /// Who is at the other end, where that does not come with each request.
    alone: Option<Alone>,
    wanted: Wanted,
    watching: Mutex<Option<Watching>>,
}

/// Somebody alone at the other end of a pipe.
pub(crate) struct Alone {
    pub(crate) who: Admitted,
    /// Room for what they run.
    pub(crate) room: Arc<Semaphore>,
}

struct Watching(AbortHandle);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A place among those of a pipe.
struct Place {
    room: Arc<Semaphore>,
    held: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Room for Place {
    fn take(&self) -> Result<(), NoRoom> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = Some(Arc::clone(&self.room).try_acquire_owned().map_err(|_| NoRoom)?);
        }
        Ok(())
    }

    fn release(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Door {
    pub(crate) fn new(shared: Arc<Shared>, alone: Option<Alone>) -> Self {
        Self { shared, alone, wanted: Wanted::default(), watching: Mutex::default() }
    }

    /// Who asks. What they call themselves is told beside who they are, and never instead.
    fn who(&self, extensions: &Extensions, client: Option<&Implementation>) -> Result<Admitted, ErrorData> {
        let admitted = match &self.alone {
            Some(Alone { who, room }) => {
                let place = Place { room: Arc::clone(room), held: Mutex::default() };
                Some(Admitted { room: Some(Arc::new(place)), ..who.clone() })
            }
            None => extensions
                .get::<http::request::Parts>()
                .and_then(|parts| parts.extensions.get::<Admitted>())
                .cloned(),
        };
        let mut admitted =
            admitted.ok_or_else(|| ErrorData::internal_error("nobody vouches for this request", None))?;
        admitted.actor.client = name_of(client);
        Ok(admitted)
    }

    fn asker(&self, context: &RequestContext<RoleServer>) -> Result<Admitted, ErrorData> {
        // Where each request stands by itself the library fills in its own name for a client that gives none.
        let client = match Era::of(context) {
            Era::Sessions => context.client_info(),
            Era::Stateless => context.meta.client_info(),
        };
        let mut who = self.who(&context.extensions, client.as_ref())?;
        let cause = context.meta.get(CORRELATION).and_then(serde_json::Value::as_str);
        if let Some(cause) = cause {
            let cause = CorrelationId::parse(cause).map_err(|error| {
                ErrorData::invalid_params(format!("_meta[\"{CORRELATION}\"]: {error}"), None)
            })?;
            who.correlation = Some(cause);
        }
        Ok(who)
    }

    /// Tells the client of a session whenever the list changes, for as long as the session lasts.
    fn watch(&self, who: Admitted, peer: Peer<RoleServer>) {
        let shared = Arc::clone(&self.shared);
        let task = self.shared.tasks.spawn(async move {
            let changed = Arc::new(Notify::new());
            let watching = shared.offers.changes(who, Arc::clone(&changed));
            let telling = async {
                loop {
                    changed.notified().await;
                    if peer.notify_tool_list_changed().await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                // Whoever may not watch any more is told nothing more.
                _ = watching => {}
                // Nor is somebody waited for who does not read.
                () = shared.closing.cancelled() => {}
                () = telling => {}
            }
        });
        let watching = Watching(task.abort_handle());
        *self.watching.lock().unwrap_or_else(PoisonError::into_inner) = Some(watching);
    }
}

/// Whether a client itself says what caused its request.
pub(crate) fn names_cause(context: &RequestContext<RoleServer>) -> bool {
    let parts = context.extensions.get::<http::request::Parts>();
    context.meta.get(CORRELATION).is_some()
        || parts.is_some_and(|parts| parts.headers.contains_key("x-correlation-id"))
}

/// A client's name for itself, as it goes on the record: visible characters only, behind a word that no client chooses.
fn name_of(client: Option<&Implementation>) -> String {
    let name: String = client
        .map(|client| client.name.chars().take(MOST_OF_A_NAME))
        .into_iter()
        .flatten()
        .map(|c| if c.is_ascii_graphic() { c } else { '?' })
        .collect();
    format!("mcp/{}", if name.is_empty() { "unnamed" } else { &name })
}

/// What a page of a list begins after, as a client carries it.
fn cursor_of(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(name)
}

fn after(cursor: &str) -> Result<String, ErrorData> {
    let name = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    name.ok_or_else(|| ErrorData::invalid_params("the cursor is none of ours: begin again without one", None))
}

impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_logging().enable_tools().enable_tool_list_changed().build();
        let ours = Implementation::new("bailiwick", env!("CARGO_PKG_VERSION")).with_title("Bailiwick");
        ServerConfig::new(capabilities).with_server_info(ours).with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let said = serde_json::to_vec(&request).map_or(usize::MAX, |said| said.len());
        if said > MOST_ABOUT_ITSELF {
            let message =
                format!("a client says at most {MOST_ABOUT_ITSELF} bytes about itself, and this one {said}");
            return Err(ErrorData::invalid_params(message, None));
        }
        let result = self.negotiate_initialize(&request)?;
        // What was agreed on counts, not what was wished: a second hello in a session must not change its era.
        let mut agreed = request;
        agreed.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(agreed);
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let client = context.peer.peer_info();
        if let Ok(who) = self.who(&context.extensions, client.as_ref().map(|said| &said.client_info)) {
            self.watch(who, context.peer);
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let who = self.asker(&context)?;
        let from = request.and_then(|page| page.cursor).as_deref().map(after).transpose()?;
        let era = Era::of(&context);
        let shared = Arc::clone(&self.shared);
        // In a task of its own: a panic there has an answer, too.
        let page = tokio::spawn(async move { shared.offers.tools(&who, from, era).await });
        let page = page.await.map_err(|_| ErrorData::internal_error("a fault of Bailiwick itself", None))?;
        let page = page.map_err(|refusal| crate::given::fault(&refusal))?;
        let mut result = ListToolsResult::with_all_items(page.tools);
        result.next_cursor = page.next.as_deref().map(cursor_of);
        if era == Era::Stateless {
            result.ttl_ms = Some(FRESH_MS);
            // Who asks decides what is there.
            result.cache_scope = Some(CacheScope::Private);
        }
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.offers.with_headers(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (who, era) = (self.asker(&context)?, Era::of(&context));
        let audience = Audience::of(&context, era, &self.wanted, &request.name);
        let can_ask = shows_forms(context.client_capabilities().as_ref());
        self.call(request, who, era, can_ask, &audience, &context).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.wanted.set(request.level);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let who = self.asker(context.request_context())?;
        let wants = context.accepted().tools_list_changed == Some(true);
        let changed = Arc::new(Notify::new());
        let watching = self.shared.offers.changes(who, Arc::clone(&changed));
        let telling = async {
            loop {
                changed.notified().await;
                // Whoever asked for nothing is told nothing, and keeps what they hold open.
                if wants && context.sink().notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = context.cancelled() => Ok(()),
            () = self.shared.closing.cancelled() => Ok(()),
            ended = watching => ended.map_err(|refusal| crate::given::fault(&refusal)),
            () = telling => Ok(()),
        }
    }

    /// What the protocol knows and could not be read as such, and what it does not know.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = shortened(&request.method);
        if Era::of(&context).has(&request.method) {
            let message = format!("the parameters of `{method}` are not as the protocol says");
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("there is no `{}` here", visible(&method)),
            None,
        ))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }
}
