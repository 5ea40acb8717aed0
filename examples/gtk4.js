#!/usr/bin/gjs -m
// A call in a GTK 4 window, in JavaScript: two streams, and buttons for picture-in-picture, sound and camera. It hears
// of what happens by messages, as signals of the element come on threads on which gjs runs no functions.
import Gst from "gi://Gst?version=1.0";
import Gtk from "gi://Gtk?version=4.0";

Gst.init(null);
const pipeline = Gst.parse_launch(
  "videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! pipsink name=anna " +
  "videotestsrc is-live=true pattern=ball ! video/x-raw,width=1280,height=720 ! pipsink name=ben " +
  "audiotestsrc is-live=true ! volume name=sound ! audioconvert ! autoaudiosink");
const [anna, ben, sound] = ["anna", "ben", "sound"].map(name => pipeline.get_by_name(name));

const application = new Gtk.Application({ application_id: "org.pipsink.CallInJavaScript" });
application.connect("activate", () => {
  const window = new Gtk.ApplicationWindow({ application, title: "Call", default_width: 800, default_height: 400 });
  const grid = new Gtk.Grid({ column_homogeneous: true });
  [anna, ben].forEach((stream, column) => {
    const picture = Gtk.Picture.new_for_paintable(stream.paintable);
    picture.vexpand = true;
    grid.attach(picture, 3 * column, 0, 3, 1);
  });
  const pip = new Gtk.Button({ label: "Picture in picture" });
  const [mute, camera] = ["Mute", "Camera off"].map(label => new Gtk.ToggleButton({ label }));
  [pip, mute, camera].forEach((button, column) => grid.attach(button, 2 * column, 1, 2, 1));
  window.set_child(grid);
  pip.connect("clicked", () => anna.emit("toggle-pip"));
  anna.bind_property("muted", sound, "mute", 0);
  mute.bind_property("active", anna, "muted", 0);
  camera.bind_property("active", anna, "camera-off", 0);
  const bus = pipeline.get_bus();
  bus.add_signal_watch();
  bus.connect("message::element", (_, message) => {
    const name = message.get_structure().get_name();
    if (name === "restore-user-interface") window.present();
    if (name.startsWith("pip-")) print(name);
  });
  bus.connect("message::error", (_, message) => {
    printerr(message.parse_error()[0].message);
    application.quit();
  });
  window.present();
  pipeline.set_state(Gst.State.PLAYING);
});
application.run([]);
pipeline.set_state(Gst.State.NULL);
