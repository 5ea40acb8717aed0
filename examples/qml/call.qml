import QtQuick
import QtQuick.Controls.Basic

// The items are the places of the streams. call.py puts the pictures there: on X11 in windows of their own, as Qt Quick
// draws the whole window.
Window {
    id: window
    title: "Call"
    width: 800
    height: 400
    visible: true
    onClosing: closed()
    signal closed()
    signal pictureInPictureToggled()
    signal muteToggled(bool isOn)
    signal cameraToggled(bool isOff)

    Row {
        anchors { fill: parent; bottomMargin: 30 }
        Item { objectName: "anna"; width: window.width / 2; height: window.height - 30 }
        Item { objectName: "ben"; width: window.width / 2; height: window.height - 30 }
    }
    Row {
        anchors { left: parent.left; right: parent.right; bottom: parent.bottom }
        height: 30
        component CallButton: Button { width: window.width / 3; height: 30 }
        CallButton { text: "Picture in picture"; onClicked: window.pictureInPictureToggled() }
        CallButton { text: "Mute"; checkable: true; onToggled: window.muteToggled(checked) }
        CallButton { text: "Camera off"; checkable: true; onToggled: window.cameraToggled(checked) }
    }
}
