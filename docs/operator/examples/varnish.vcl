# Varnish between guard and WordPress's web server: guard decides on every request, Varnish answers what it has.
# Varnish listens on 127.0.0.1:8081 (varnishd -a 127.0.0.1:8081), WordPress's web server on 127.0.0.1:8082.
# Attach the site with --upstream http://127.0.0.1:8081. Requests as long as guard lets through need
#   varnishd -p http_req_hdr_len=32k -p http_req_size=96k -p workspace_client=256k
# Varnish adds its own address to X-Forwarded-For. So that WordPress's web server sees each visitor, it believes both:
#   nginx:  set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For; real_ip_recursive on;
#   Apache: RemoteIPHeader X-Forwarded-For and RemoteIPInternalProxy 127.0.0.1
vcl 4.1;

backend wordpress {
  .host = "127.0.0.1";
  .port = "8082";
  .first_byte_timeout = 300s;
  .between_bytes_timeout = 300s;
}

sub vcl_recv {
  # WebSockets. Guard lets no other upgrade through.
  if (req.http.Upgrade) {
    return (pipe);
  }
  # Guard's own commands, and whatever is no plain reading.
  if (req.http.X-Security-Optimizer-Command || (req.method != "GET" && req.method != "HEAD")) {
    return (pass);
  }
  # Members, and visitors whom WordPress or a shop knows.
  if (req.http.Authorization || req.http.Cookie ~ "(?i)wordpress_|wp-|comment_author|woocommerce_|security_optimizer") {
    return (pass);
  }
  # Login, administration and the REST API, in every way to write them that WordPress's web server takes.
  if (req.url ~ "(?i)wp-|xmlrpc|rest_route|\.php|%|//") {
    return (pass);
  }
  unset req.http.Cookie;
  return (hash);
}

sub vcl_pipe {
  # Varnish passes these on only when told to.
  set bereq.http.Upgrade = req.http.Upgrade;
  set bereq.http.Connection = "upgrade";
}

sub vcl_hash {
  # The same address by http and by https is two pages: links and redirects differ.
  hash_data(req.http.X-Forwarded-Proto);
}

sub vcl_backend_response {
  # An error is nobody else's, and a page that sets a cookie neither.
  if (beresp.status >= 400 || beresp.http.Set-Cookie || beresp.http.Cache-Control ~ "(?i)no-store|no-cache|private") {
    set beresp.uncacheable = true;
    set beresp.ttl = 60s;
    return (deliver);
  }
}

sub vcl_deliver {
  # The connector's word about another visitor's request. Guard would not believe it, so nobody need see it.
  if (obj.hits > 0) {
    unset resp.http.X-Security-Optimizer-Signal;
  }
}
