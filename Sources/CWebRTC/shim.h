// The signals of webrtcbin, which are variadic, so that Swift cannot emit them.
//
// The header of GstWebRTCSessionDescription is in a Debian package that needs hundreds of others. The type is in the
// plugin of webrtcbin, and its two fields are documented, so neither the header nor its library is needed here.
#ifndef PIPSINK_CWEBRTC_SHIM_H
#define PIPSINK_CWEBRTC_SHIM_H

#include <gst/gst.h>
#include <gst/sdp/sdp.h>

/// The fields of a GstWebRTCSessionDescription.
typedef struct {
  gint type;
  GstSDPMessage *sdp;
} PipSinkSessionDescription;

// Values of GstWebRTCSDPType, GstWebRTCRTPTransceiverDirection, GstWebRTCICEGatheringState and
// GstWebRTCPeerConnectionState.
enum { PIPSINK_SDP_OFFER = 1, PIPSINK_SDP_ANSWER = 3 };
enum { PIPSINK_DIRECTION_RECEIVE = 3 };
enum { PIPSINK_GATHERING_COMPLETE = 2 };
enum { PIPSINK_PEER_CONNECTED = 2, PIPSINK_PEER_FAILED = 4, PIPSINK_PEER_CLOSED = 5 };

/// Asks for an offer or an answer: `signal` is "create-offer" or "create-answer".
static inline void pipsink_webrtc_create(GstElement *webrtc, const gchar *signal, GstPromise *promise) {
  g_signal_emit_by_name(webrtc, signal, NULL, promise);
}

/// Sets a description: `signal` is "set-local-description" or "set-remote-description". webrtcbin copies `sdp`.
static inline void pipsink_webrtc_set(
    GstElement *webrtc, const gchar *signal, gint type, GstSDPMessage *sdp, GstPromise *promise) {
  PipSinkSessionDescription description = {type, sdp};
  g_signal_emit_by_name(webrtc, signal, &description, promise);
}

static inline void pipsink_webrtc_get_statistics(GstElement *webrtc, GstPad *pad, GstPromise *promise) {
  g_signal_emit_by_name(webrtc, "get-stats", pad, promise);
}

static inline void pipsink_webrtc_add_candidate(GstElement *webrtc, guint line, const gchar *candidate) {
  g_signal_emit_by_name(webrtc, "add-ice-candidate", line, candidate);
}

/// Adds a server that relays packets. An address that webrtcbin cannot read is ignored.
static inline void pipsink_webrtc_add_relay(GstElement *webrtc, const gchar *url) {
  gboolean is_added = FALSE;
  g_signal_emit_by_name(webrtc, "add-turn-server", url, &is_added);
}

/// Frees a description of webrtcbin and returns its text, which the caller frees with g_free(); NULL for NULL.
static inline gchar *pipsink_webrtc_take_text(PipSinkSessionDescription *description) {
  if (description == NULL) return NULL;
  gchar *text = gst_sdp_message_as_text(description->sdp);
  g_boxed_free(g_type_from_name("GstWebRTCSessionDescription"), description);
  return text;
}

/// The text of the element's local description, with the candidates so far.
static inline gchar *pipsink_webrtc_local_text(GstElement *webrtc) {
  PipSinkSessionDescription *description = NULL;
  g_object_get(webrtc, "local-description", &description, NULL);
  return pipsink_webrtc_take_text(description);
}

/// The text of the description in a reply: `field` is "offer" or "answer".
static inline gchar *pipsink_webrtc_reply_text(const GstStructure *reply, const gchar *field) {
  PipSinkSessionDescription *description = NULL;
  if (reply != NULL)
    gst_structure_get(reply, field, g_type_from_name("GstWebRTCSessionDescription"), &description, NULL);
  return pipsink_webrtc_take_text(description);
}

/// What is wrong, as a reply says; NULL when nothing is. The caller frees it with g_free().
static inline gchar *pipsink_webrtc_reply_error(const GstStructure *reply) {
  GError *error = NULL;
  if (reply == NULL || !gst_structure_get(reply, "error", G_TYPE_ERROR, &error, NULL)) return NULL;
  gchar *text = g_strdup(error->message);
  g_error_free(error);
  return text;
}

/// Sets whether lost packets of a transceiver are sent again.
static inline void pipsink_webrtc_set_nack(gpointer transceiver, gboolean is_enabled) {
  g_object_set(transceiver, "do-nack", is_enabled, NULL);
}

/// Adds a transceiver that only receives.
static inline void pipsink_webrtc_add_receiver(GstElement *webrtc, const gchar *formats) {
  GstCaps *caps = gst_caps_from_string(formats);
  GObject *transceiver = NULL;
  g_signal_emit_by_name(webrtc, "add-transceiver", PIPSINK_DIRECTION_RECEIVE, caps, &transceiver);
  if (transceiver != NULL) {
    pipsink_webrtc_set_nack(transceiver, TRUE);
    g_object_unref(transceiver);
  }
  gst_caps_unref(caps);
}

/// Has the tracks that were added with `formats` offered in `others` from the next offer on.
static inline void pipsink_webrtc_exchange_formats(GstElement *webrtc, const gchar *formats, const gchar *others) {
  GstCaps *old = gst_caps_from_string(formats), *new_caps = gst_caps_from_string(others);
  for (gint index = 0;; index++) {
    GObject *transceiver = NULL;
    GstCaps *caps = NULL;
    g_signal_emit_by_name(webrtc, "get-transceiver", index, &transceiver);
    if (transceiver == NULL) break;
    g_object_get(transceiver, "codec-preferences", &caps, NULL);
    if (caps != NULL && gst_caps_is_equal(caps, old)) g_object_set(transceiver, "codec-preferences", new_caps, NULL);
    if (caps != NULL) gst_caps_unref(caps);
    g_object_unref(transceiver);
  }
  gst_caps_unref(old);
  gst_caps_unref(new_caps);
}

/// The number of a transceiver's medium in the description.
static inline guint pipsink_webrtc_line(gpointer transceiver) {
  guint line = G_MAXUINT;
  g_object_get(transceiver, "mlineindex", &line, NULL);
  return line;
}

/// Restricts the formats of a transceiver.
static inline void pipsink_webrtc_restrict_formats(gpointer transceiver, const gchar *formats) {
  GstCaps *caps = gst_caps_from_string(formats);
  g_object_set(transceiver, "codec-preferences", caps, NULL);
  gst_caps_unref(caps);
}

/// The transceiver of a pad of webrtcbin, which the caller releases.
static inline gpointer pipsink_webrtc_transceiver(GstPad *pad) {
  gpointer transceiver = NULL;
  g_object_get(pad, "transceiver", &transceiver, NULL);
  return transceiver;
}

/// The certificate (PEM) that the peer has shown; NULL for none yet. The caller frees it with g_free().
static inline gchar *pipsink_webrtc_peer_certificate(GstElement *webrtc) {
  GObject *transceiver = NULL, *receiver = NULL, *transport = NULL;
  gchar *text = NULL;
  g_signal_emit_by_name(webrtc, "get-transceiver", 0, &transceiver);
  if (transceiver != NULL) g_object_get(transceiver, "receiver", &receiver, NULL);
  if (receiver != NULL) g_object_get(receiver, "transport", &transport, NULL);
  if (transport != NULL) g_object_get(transport, "remote-certificate", &text, NULL);
  g_clear_object(&transport);
  g_clear_object(&receiver);
  g_clear_object(&transceiver);
  return text;
}

/// The mid of the track of a pad of webrtcbin. The caller frees it with g_free().
static inline gchar *pipsink_webrtc_mid(GstPad *pad) {
  gchar *mid = NULL;
  gpointer transceiver = pipsink_webrtc_transceiver(pad);
  if (transceiver == NULL) return NULL;
  g_object_get(transceiver, "mid", &mid, NULL);
  g_object_unref(transceiver);
  return mid;
}

static inline gint pipsink_webrtc_state(GstElement *webrtc, const gchar *property) {
  gint state = 0;
  g_object_get(webrtc, property, &state, NULL);
  return state;
}

/// The name of an element's factory; NULL where it has none. The caller frees it with g_free().
static inline gchar *pipsink_webrtc_factory_name(GstElement *element) {
  GstElementFactory *factory = gst_element_get_factory(element);
  return factory == NULL ? NULL : gst_object_get_name(GST_OBJECT(factory));
}

/// Sets a property from its text where the object has it.
static inline void pipsink_webrtc_set_property(gpointer object, const gchar *name, const gchar *value) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(object), name) != NULL)
    gst_util_set_object_arg(G_OBJECT(object), name, value);
}

/// What an rtpsession knows of the packets that the peer has reported last, and of the bits per second; FALSE for nothing.
static inline gboolean pipsink_webrtc_feedback(
    GstElement *session, guint *sent, guint *received, guint *bits_sent, guint *bits_received,
    gdouble *percent_lost) {
  GstStructure *known = NULL;
  g_object_get(session, "twcc-stats", &known, NULL);
  if (known == NULL) return FALSE;
  gboolean is_complete = gst_structure_get(
      known, "packets-sent", G_TYPE_UINT, sent, "packets-recv", G_TYPE_UINT, received, "bitrate-sent", G_TYPE_UINT,
      bits_sent, "bitrate-recv", G_TYPE_UINT, bits_received, "packet-loss-pct",
      G_TYPE_DOUBLE, percent_lost, NULL);
  gst_structure_free(known);
  return is_complete;
}

/// The object in a property, which the caller releases; NULL where the object has no such property.
static inline gpointer pipsink_webrtc_object(gpointer object, const gchar *name) {
  GObject *value = NULL;
  if (object != NULL && g_object_class_find_property(G_OBJECT_GET_CLASS(object), name) != NULL)
    g_object_get(object, name, &value, NULL);
  return value;
}

/// Has libnice not ask the router for open ports by UPnP, as it does unless it is told otherwise.
static inline void pipsink_webrtc_disable_port_mapping(GstElement *webrtc) {
  gpointer ice = pipsink_webrtc_object(webrtc, "ice-agent"), agent = pipsink_webrtc_object(ice, "agent");
  if (agent != NULL) pipsink_webrtc_set_property(agent, "upnp", "false");
  g_clear_object(&agent);
  g_clear_object(&ice);
}

#endif
