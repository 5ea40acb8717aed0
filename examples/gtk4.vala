// A call in a GTK 4 window, in Vala: two streams, and buttons for picture-in-picture, sound and camera.
// valac --pkg gtk4 --pkg gstreamer-1.0 gtk4.vala
int main (string[] arguments) {
  Gst.init (ref arguments);
  var application = new Gtk.Application ("org.pipsink.CallInVala", ApplicationFlags.FLAGS_NONE);
  Gst.Bin? call = null;
  application.activate.connect (() => {
    try {
      call = (Gst.Bin) Gst.parse_launch (
        "videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! pipsink name=anna " +
        "videotestsrc is-live=true pattern=ball ! video/x-raw,width=1280,height=720 ! pipsink name=ben " +
        "audiotestsrc is-live=true ! volume name=sound ! audioconvert ! autoaudiosink");
    } catch (Error error) {
      printerr ("%s\n", error.message);
      return;
    }
    var window = new Gtk.ApplicationWindow (application) { title = "Call", default_width = 800, default_height = 400 };
    var grid = new Gtk.Grid () { column_homogeneous = true };
    Gst.Element[] streams = { call.get_by_name ("anna"), call.get_by_name ("ben") };
    for (int column = 0; column < 2; column++) {
      Gdk.Paintable paintable;
      streams[column].get ("paintable", out paintable);
      grid.attach (new Gtk.Picture.for_paintable (paintable) { vexpand = true }, 3 * column, 0, 3, 1);
    }
    var pip = new Gtk.Button.with_label ("Picture in picture");
    var mute = new Gtk.ToggleButton.with_label ("Mute");
    var camera = new Gtk.ToggleButton.with_label ("Camera off");
    grid.attach (pip, 0, 1, 2, 1);
    grid.attach (mute, 2, 1, 2, 1);
    grid.attach (camera, 4, 1, 2, 1);
    window.child = grid;
    var anna = streams[0];
    pip.clicked.connect (() => Signal.emit_by_name (anna, "toggle-pip"));
    anna.bind_property ("muted", call.get_by_name ("sound"), "mute", BindingFlags.DEFAULT);
    mute.bind_property ("active", anna, "muted", BindingFlags.DEFAULT);
    camera.bind_property ("active", anna, "camera-off", BindingFlags.DEFAULT);
    var bus = call.get_bus ();
    bus.add_signal_watch ();
    bus.message["element"].connect ((message) => {
      unowned var name = message.get_structure ().get_name ();
      if (name == "restore-user-interface") window.present ();
      if (name.has_prefix ("pip-")) print ("%s\n", name);
    });
    bus.message["error"].connect (() => application.quit ());
    window.present ();
    call.set_state (Gst.State.PLAYING);
  });
  int status = application.run (arguments);
  if (call != null) call.set_state (Gst.State.NULL);
  return status;
}
