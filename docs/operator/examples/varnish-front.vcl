# Varnish in front of guard, on the same machine, behind HAProxy, which ends TLS. Varnish behind guard is better
# (varnish.vcl): then guard decides on every request. Here it decides on what is not in the cache: a blocked visitor still
# gets the public pages that are.
#   HAProxy: haproxy.cfg with the server line  server varnish 127.0.0.1:6081 check send-proxy-v2-ssl
#   Varnish: varnishd -a 127.0.0.1:6081,PROXY
#            -p http_req_hdr_len=32k -p http_req_size=96k -p workspace_client=256k
#   guard:   attach the site with --listen 127.0.0.1:8080 --trusted-proxy 127.0.0.1
# Empty the cache after you switch a protection on: varnishadm ban req.url ~ .
vcl 4.1;

import proxy;

backend guard {
  .host = "127.0.0.1";
  .port = "8080";
  .first_byte_timeout = 300s;
  .between_bytes_timeout = 300s;
}

sub vcl_recv {
  # HAProxy's health check, which names no host.
  if (!req.http.Host) {
    return (synth(200));
  }
  # The visitor's address alone, as HAProxy tells it, and the scheme. Varnish would add the address to what the visitor
  # claims.
  set req.http.X-Forwarded-For = client.ip;
  unset req.http.X-Forwarded-Proto;
  if (proxy.is_ssl()) {
    set req.http.X-Forwarded-Proto = "https";
  }
  # WebSockets alone: Varnish does not read what follows on such a connection.
  if (req.http.Upgrade ~ "(?i)^websocket$") {
    return (pipe);
  }
  unset req.http.Upgrade;
  # Only reading requests are cached.
  if (req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }
  # Members, visitors with a cookie of WordPress, of a shop or of guard.
  if (req.http.Authorization || req.http.Cookie ~ "(?i)wordpress_|wp-|comment_author|woocommerce_|security_optimizer") {
    return (pass);
  }
  # Login, wp-admin and the REST API, in every spelling. WordPress forbids caching of the login at a custom address.
  if (req.url ~ "(?i)wp-|xmlrpc|rest_route|\.php|%|//") {
    return (pass);
  }
  unset req.http.Cookie;
  return (hash);
}

sub vcl_pipe {
  # Varnish passes these on only when told to. Other upgrades are not piped: guard would read what follows on the
  # connection as further requests, with any address that the visitor writes into them.
  set bereq.http.Upgrade = req.http.Upgrade;
  set bereq.http.Connection = "upgrade";
}

sub vcl_hash {
  # The same address by http and by https is two pages: links and redirects differ.
  hash_data(req.http.X-Forwarded-Proto);
}

sub vcl_backend_response {
  # Guard's refusals are for one visitor, and so are errors, redirects and pages that set a cookie.
  if (beresp.status != 200 || beresp.http.Set-Cookie || beresp.http.Cache-Control ~ "(?i)no-store|no-cache|private") {
    set beresp.uncacheable = true;
    set beresp.ttl = 60s;
    return (deliver);
  }
}
